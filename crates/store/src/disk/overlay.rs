//! A disk on which nothing changes: what is written stays in memory, over what lies below. A start, or a repair, can be
//! tried on it before anybody decides that it is to be done.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lapwing_files::{WrongKind, explained};

use super::{Access, Disk, DiskFile};

/// A file system over another one, which it only reads. What is done to it is gone with its last copy.
#[derive(Debug, Clone)]
pub struct Overlay {
    below: Arc<dyn Disk>,
    changes: Arc<Mutex<Changes>>,
}

#[derive(Debug, Default)]
struct Changes {
    /// Files that were made or opened for writing; `None`: removed.
    files: BTreeMap<PathBuf, Option<Arc<OverlayFile>>>,
    dirs: BTreeSet<PathBuf>,
}

impl Overlay {
    /// Nothing is changed yet.
    pub fn new(below: Arc<dyn Disk>) -> Self {
        Self { below, changes: Arc::default() }
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file as one that may be changed.
    fn changeable(&self, changes: &mut Changes, file: &Path) -> io::Result<Arc<OverlayFile>> {
        match changes.files.get(file) {
            Some(Some(changed)) => Ok(changed.clone()),
            Some(None) => Err(io::ErrorKind::NotFound.into()),
            None => {
                let opened = Arc::new(OverlayFile::over(self.below.open(file, Access::Read)?)?);
                changes.files.insert(file.to_path_buf(), Some(opened.clone()));
                Ok(opened)
            }
        }
    }
}

impl Disk for Overlay {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        match self.below.list(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(explained(error, dir)),
            _ => {
                self.changes().dirs.insert(dir.to_path_buf());
                Ok(())
            }
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let changes = self.changes();
        let mut names: BTreeSet<String> = match self.below.list(dir) {
            Ok(names) => names.into_iter().collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound && changes.dirs.contains(dir) => BTreeSet::new(),
            Err(error) => return Err(error),
        };
        for (path, file) in changes.files.iter().filter(|(path, _)| path.parent() == Some(dir)) {
            let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
            match file {
                Some(_) => names.insert(name),
                None => names.remove(&name),
            };
        }
        Ok(names.into_iter().collect())
    }

    fn open(&self, file: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        let mut changes = self.changes();
        let is_changed = changes.files.contains_key(file);
        match (access, is_changed) {
            (Access::Create, _) => {
                let made = Arc::new(OverlayFile::default());
                changes.files.insert(file.to_path_buf(), Some(made.clone()));
                Ok(made)
            }
            (Access::Read, false) => self.below.open(file, Access::Read),
            _ => Ok(self.changeable(&mut changes, file)?),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut changes = self.changes();
        let file = self.changeable(&mut changes, from)?;
        changes.files.insert(from.to_path_buf(), None);
        changes.files.insert(to.to_path_buf(), Some(file));
        Ok(())
    }

    fn remove(&self, file: &Path) -> io::Result<()> {
        let mut changes = self.changes();
        match self.changeable(&mut changes, file) {
            // Whatever is no folder can be removed, though it is not opened.
            Err(error) if WrongKind::in_error(&error).is_none_or(|found| found.is_folder()) => return Err(error),
            _ => changes.files.insert(file.to_path_buf(), None),
        };
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// A file with changes over it.
#[derive(Debug, Default)]
struct OverlayFile {
    base: Option<Arc<dyn DiskFile>>,
    state: Mutex<FileState>,
}

#[derive(Debug, Default)]
struct FileState {
    /// What is still seen of the file below.
    base_bytes: u64,
    bytes: u64,
    /// The later ones lie over the earlier ones.
    patches: Vec<(u64, Vec<u8>)>,
}

impl OverlayFile {
    fn over(base: Arc<dyn DiskFile>) -> io::Result<Self> {
        let bytes = base.bytes()?;
        let state = Mutex::new(FileState { base_bytes: bytes, bytes, patches: vec![] });
        Ok(Self { base: Some(base), state })
    }

    fn state(&self) -> MutexGuard<'_, FileState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskFile for OverlayFile {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let state = self.state();
        let wanted = (bytes.len() as u64).min(state.bytes.saturating_sub(at)) as usize;
        let bytes = &mut bytes[..wanted];
        bytes.fill(0);
        let of_base = (wanted as u64).min(state.base_bytes.saturating_sub(at)) as usize;
        if let Some(base) = self.base.as_ref().filter(|_| of_base > 0) {
            base.read_at(&mut bytes[..of_base], at)?;
        }
        for (from, patch) in &state.patches {
            let (begin, end) = ((*from).max(at), (from + patch.len() as u64).min(at + wanted as u64));
            if begin < end {
                let source = &patch[(begin - from) as usize..(end - from) as usize];
                bytes[(begin - at) as usize..(end - at) as usize].copy_from_slice(source);
            }
        }
        Ok(wanted)
    }

    fn write_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        let mut state = self.state();
        let contents: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        state.bytes = state.bytes.max(at + contents.len() as u64);
        state.patches.push((at, contents));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn allocate(&self, bytes: u64) -> io::Result<bool> {
        let mut state = self.state();
        state.bytes = state.bytes.max(bytes);
        Ok(true)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.state();
        state.base_bytes = state.base_bytes.min(bytes);
        state.bytes = bytes;
        state.patches.retain(|(from, _)| *from < bytes);
        for (from, patch) in &mut state.patches {
            patch.truncate((bytes - *from) as usize);
        }
        Ok(())
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.state().bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::OsDisk;
    use std::fs;

    fn contents(disk: &dyn Disk, file: &Path) -> Vec<u8> {
        crate::disk::read_whole(disk, file, 1 << 20).expect("read")
    }

    #[test]
    fn what_is_written_is_read_and_the_files_below_stay_as_they_are() {
        let dir = tempfile::tempdir().expect("a folder");
        let (old, new) = (dir.path().join("old"), dir.path().join("new"));
        fs::write(&old, b"0123456789").expect("write");
        let disk = Overlay::new(Arc::new(OsDisk));
        let file = disk.open(&old, Access::Write).expect("there");
        file.write_at(&[IoSlice::new(b"ab"), IoSlice::new(b"cd")], 8).expect("written");
        file.write_at(&[IoSlice::new(b"X")], 9).expect("written");
        assert_eq!(contents(&disk, &old), b"01234567aXcd");
        file.set_len(9).expect("cut");
        file.set_len(11).expect("grown");
        assert_eq!(contents(&disk, &old), b"01234567a\0\0");
        disk.rename(&old, &new).expect("renamed");
        assert!(disk.open(&old, Access::Read).is_err());
        assert_eq!(disk.list(dir.path()).expect("a folder"), ["new"]);
        disk.remove(&new).expect("removed");
        assert!(disk.remove(&new).is_err() && disk.list(dir.path()).expect("a folder").is_empty());
        assert_eq!(fs::read(&old).expect("read"), b"0123456789");
        assert!(!new.exists());
    }

    #[test]
    fn every_part_of_a_patched_file_reads_right() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        fs::write(&path, [1; 50]).expect("write");
        let disk = Overlay::new(Arc::new(OsDisk));
        let file = disk.open(&path, Access::Write).expect("there");
        file.write_at(&[IoSlice::new(&[2; 10])], 20).expect("written");
        file.write_at(&[IoSlice::new(&[3; 30])], 45).expect("written");
        let mut whole = vec![1; 50];
        whole[20..30].fill(2);
        whole.resize(75, 0);
        whole[45..75].fill(3);
        for at in 0..80 {
            for wanted in 0..80 {
                let mut bytes = vec![9; wanted];
                let read = file.read_at(&mut bytes, at as u64).expect("read");
                let until = (at + wanted).min(75).max(at.min(75));
                assert_eq!(bytes[..read], whole[at.min(75)..until], "{wanted} at {at}");
            }
        }
    }
}
