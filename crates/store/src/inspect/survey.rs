//! Which files there are in a data folder, by their places and names.

use std::io;
use std::path::{Path, PathBuf};

use super::report::{FileKind, Home, KnownFile};
use crate::disk::{Access, Disk};
use crate::error::StoreError;
use crate::journal::{received_name, snapshot_name};
use crate::segment_file::sequence_of;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub files: Vec<KnownFile>,
    /// Names of the streams' folders, in order.
    pub streams: Vec<String>,
    pub has_journal: bool,
}

/// Lists the folder.
///
/// # Errors
/// `NoData`: nothing of ours is there. `Io`.
pub(crate) fn survey(disk: &dyn Disk, dir: &Path) -> Result<Survey, StoreError> {
    let lister = Lister { disk, dir };
    let mut survey = Survey::default();
    let names = match disk.list(dir) {
        Ok(names) => names,
        Err(error) if is_no_folder(&error) => return Err(StoreError::NoData { dir: dir.to_path_buf() }),
        Err(error) => return Err(StoreError::io("list", dir, error)),
    };
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    if !has("format") && !has("streams") && !has("log") {
        return Err(StoreError::NoData { dir: dir.to_path_buf() });
    }
    if !has("format") {
        survey.files.push(missing(PathBuf::from("format"), FileKind::Format, Home::Root, 0));
    }
    survey.files.extend(lister.files(Path::new(""), Home::Root)?);
    survey.streams = lister.folders(Path::new("streams"))?;
    for (place, name) in survey.streams.iter().enumerate() {
        survey.files.extend(lister.files(&Path::new("streams").join(name), Home::Stream(place))?);
    }
    survey.has_journal = has("log");
    if survey.has_journal {
        survey.files.extend(lister.files(Path::new("log"), Home::Journal)?);
        survey.files.extend(lister.files(&Path::new("log").join("snapshots"), Home::Journal)?);
    }
    // A folder of somebody else may have a `log` or `streams` in it too.
    match has("format") || survey.files.iter().any(is_unmistakable) {
        true => Ok(survey),
        false => Err(StoreError::NoData { dir: dir.to_path_buf() }),
    }
}

/// A file that nobody else has under such a name.
fn is_unmistakable(file: &KnownFile) -> bool {
    matches!(file.kind, FileKind::Segment | FileKind::Kept | FileKind::Index | FileKind::Snapshot | FileKind::Received)
}

/// A file that should be there.
pub(crate) fn missing(path: PathBuf, kind: FileKind, home: Home, number: u64) -> KnownFile {
    KnownFile { path, kind, bytes: 0, home, number, group: 0, is_missing: true }
}

fn is_no_folder(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

struct Lister<'l> {
    disk: &'l dyn Disk,
    dir: &'l Path,
}

impl Lister<'_> {
    /// The names in a folder, in order; none when there is no such folder.
    fn names(&self, folder: &Path) -> Result<Vec<String>, StoreError> {
        let path = self.dir.join(folder);
        let mut names = match self.disk.list(&path) {
            Ok(names) => names,
            Err(error) if is_no_folder(&error) => vec![],
            Err(error) => return Err(StoreError::io("list", &path, error)),
        };
        names.sort_unstable();
        Ok(names)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.disk.list(&self.dir.join(path)).is_ok()
    }

    fn folders(&self, folder: &Path) -> Result<Vec<String>, StoreError> {
        Ok(self.names(folder)?.into_iter().filter(|name| self.is_folder(&folder.join(name))).collect())
    }

    fn files(&self, folder: &Path, home: Home) -> Result<Vec<KnownFile>, StoreError> {
        let mut files = vec![];
        for name in self.names(folder)? {
            let path = folder.join(&name);
            if self.is_folder(&path) {
                continue;
            }
            let full = self.dir.join(&path);
            let bytes = self.disk.open(&full, Access::Read).and_then(|file| file.bytes());
            // What cannot be opened is told of when it is looked at.
            let bytes = bytes.unwrap_or(0);
            let (kind, number, group) = kind_of(&name, home);
            files.push(KnownFile { path, kind, bytes, home, number, group, is_missing: false });
        }
        Ok(files)
    }
}

/// What a file of this name is: with its number, and the group of a snapshot.
fn kind_of(name: &str, home: Home) -> (FileKind, u64, u16) {
    if home == Home::Root {
        let kind = match name {
            "format" => FileKind::Format,
            "lock" => FileKind::Lock,
            "stamps" => FileKind::Stamps,
            "clock" => FileKind::Clock,
            _ if name.ends_with(".tmp") => FileKind::Draft,
            _ => FileKind::Other,
        };
        return (kind, 0, 0);
    }
    if let Some((group, index)) = snapshot_name(name).filter(|_| home == Home::Journal) {
        return (FileKind::Snapshot, index, group);
    }
    if let Some((group, index, _)) = received_name(name).filter(|_| home == Home::Journal) {
        return (FileKind::Received, index, group);
    }
    let numbered = [(".log", FileKind::Segment), (".kept", FileKind::Kept), (".idx", FileKind::Index)];
    let numbered = numbered.into_iter().find_map(|(ending, kind)| Some((kind, sequence_of(name, ending)?)));
    match (numbered, name) {
        (Some((FileKind::Kept, _)), _) if home != Home::Journal => (FileKind::Other, 0, 0),
        (Some((kind, number)), _) => (kind, number, 0),
        (None, "meta") => (FileKind::Meta, 0, 0),
        (None, "readers") if home != Home::Journal => (FileKind::Readers, 0, 0),
        (None, "spare" | "reserve") if home == Home::Journal => (FileKind::Spare, 0, 0),
        (None, _) if name.ends_with(".tmp") => (FileKind::Draft, 0, 0),
        (None, _) => (FileKind::Other, 0, 0),
    }
}
