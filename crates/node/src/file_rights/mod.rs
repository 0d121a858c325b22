//! Whether the files that a broker believes are its own: nobody else may write them, or read what is secret in them.
//!
//! - Each file with the folders and symbolic links on the way (`ways`): who may write a folder can put another file in the place
//!   of this one. `verdict` decides, from numbers alone.
//! - Written by others than root and the broker's own account: a fault. Read by everybody, where it is secret: a line.
//! - The folders in which Python looks before it finds the modules of hooks are judged too (`search_path`).
//! - What it makes itself is judged like these: the audit trail, and the folders of its Unix sockets.
//! - The data folder is judged too, by itself (`data_folder`): what lies in it is believed at the next start.
//! - Which files of a configuration those are, `believed` says; whoever starts a node says whether a fault is one that a start
//!   is refused for. Python and `lapwingd` ask here alike. Access control lists are not looked at.

mod believed;
mod data_folder;
mod search_path;
mod trusted;
mod verdict;
mod ways;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub use believed::{Believed, believed_files, made_files};
pub use trusted::{Trusted, is_private_group};

use verdict::{Facts, quoted};

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// What.
    pub what: String,
    /// Where the configuration says so.
    pub place: String,
    /// What to do.
    pub remedy: String,
}

/// What others may do with files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// They may write them, or put others in their place.
    pub written: Vec<FileFault>,
    /// They may read what is secret: a line each.
    pub told: Vec<String>,
}

/// Looks at all of them. Files that are not there are left to whoever reads them. `searched`: folders in which modules are looked
/// for. `data`: the folder where something is kept.
pub fn look_at_files(files: &[Believed], searched: &[Believed], data: Option<&Path>, trusted: &Trusted) -> Looked {
    let mut named = HashSet::new();
    let mut looked = Looked { written: written(files, trusted, &mut named), told: read_by_all(files) };
    looked.written.extend(search_path::written_by_others(searched, trusted, &mut named));
    if let Some((path, facts)) = data.and_then(|path| Some((path, data_folder::facts(path)?))) {
        looked.written.extend(data_folder::written_by_others(path, &facts, trusted));
        looked.told.extend(data_folder::seen_by_others(path, &facts));
    }
    looked
}

/// What lies there, in words, where it is neither a file nor a folder; none: one of these, or nothing.
pub fn kind_at(path: &Path) -> Option<&'static str> {
    Facts::behind(path)?.strange_kind()
}

/// Whether something else lies where a file is named: whoever opened a pipe would wait for ever; devices have no end. What is
/// not there, and folders, are left to whoever reads them.
pub fn strange_kind(file: &Believed) -> Option<FileFault> {
    kind_at(&file.path).map(|kind| FileFault {
        what: format!("{} is {kind}", file.key),
        place: file.path.display().to_string(),
        remedy: "name a file: it is read again at a reload".to_owned(),
    })
}

/// One for each file, folder and link that others may write, whatever number of keys lead there; `named` gets all of these.
fn written(files: &[Believed], trusted: &Trusted, named: &mut HashSet<PathBuf>) -> Vec<FileFault> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for file in files {
        for path in ways::to(&file.path).into_iter().filter(|path| seen.insert(path.clone())) {
            let Some(facts) = Facts::at(&path) else { continue };
            let Some(who) = facts.strange_writer(trusted) else { continue };
            found.push(FileFault {
                what: format!("{} {}, and {who}", path.display(), means(&file.key)),
                place: format!("{} = '{}'", file.key, file.path.display()),
                remedy: format!("{}, or allow it with broker.files = \"warn\"", facts.remedy(trusted, &path)),
            });
            named.insert(path);
        }
    }
    found
}

/// Why it matters.
fn means(key: &str) -> &'static str {
    match key {
        believed::TRAIL => "decides whose the audit trail is",
        believed::SOCKETS => "decides who listens at the broker's Unix socket",
        _ => "decides what this broker does",
    }
}

fn read_by_all(files: &[Believed]) -> Vec<String> {
    let mut seen = HashSet::new();
    let secret = files.iter().filter(|file| file.is_secret && seen.insert(&file.path));
    let read = secret.filter(|file| Facts::behind(&file.path).is_some_and(|facts| facts.is_read_by_all()));
    read.map(|Believed { path, key, .. }| {
        let (shown, mended) = (path.display(), quoted(path));
        format!("{shown} ({key}) holds secrets, and every user of this machine may read it: chmod o-r {mended}")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir, set_permissions, write};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn believed(path: &Path, key: &str) -> Believed {
        Believed { path: path.to_owned(), key: key.to_owned(), is_secret: true }
    }

    /// Is a folder in which anybody could put his own audit trail or socket a fault, and one with the sticky bit none?
    #[test]
    fn folders_of_what_it_makes() {
        let folder = tempfile::tempdir().unwrap();
        let trusted = Trusted::exactly([0, folder.path().metadata().unwrap().uid()], []);
        let open = folder.path().join("open");
        create_dir(&open).unwrap();
        let url = format!("unix://{}/mqtt.sock", open.display());
        let what = |mode: u32, trail: Option<&Path>| {
            set_permissions(&open, Permissions::from_mode(mode)).unwrap();
            let urls = trail.is_none().then_some(&*url);
            let written = look_at_files(&made_files(trail, urls), &[], None, &trusted).written;
            written.into_iter().map(|fault| fault.what).filter(|what| what.contains("open")).collect::<Vec<_>>()
        };
        let trail = open.join("audit.jsonl");
        for (trail, means) in
            [(None, "who listens at the broker's Unix socket"), (Some(&*trail), "whose the audit trail is")]
        {
            assert!(matches!(&what(0o777, trail)[..], [fault] if fault.contains(means)), "{means}");
            assert!(what(0o755, trail).is_empty() && what(0o1777, trail).is_empty(), "{means}");
        }
        write(&trail, "").unwrap();
        set_permissions(&trail, Permissions::from_mode(0o666)).unwrap();
        assert_eq!(what(0o755, Some(&trail)).len(), 1, "who may write the trail itself");
    }

    /// Is a file that others may write a fault once, however many keys name it, with what to do; and is one that they may read
    /// told?
    #[test]
    fn files_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let (file, data) = (folder.path().join("users.toml"), folder.path().join("data"));
        write(&file, "").unwrap();
        create_dir(&data).unwrap();
        set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
        // The way to the folder is not this test's: it is whoever's machine this is.
        let trusted = Trusted::exactly([0, folder.path().metadata().unwrap().uid()], []);
        let files = [believed(&file, "auth.users"), believed(&file, "auth.jwt.secret_file")];
        for (mode, is_written, is_told) in [(0o600, false, false), (0o644, false, true), (0o666, true, true)] {
            set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            let looked = look_at_files(&files, &[], Some(&data), &trusted);
            let written: Vec<_> = looked.written.iter().filter(|fault| fault.what.contains("users.toml")).collect();
            assert_eq!(written.len(), usize::from(is_written), "{written:?}");
            for fault in written {
                assert_eq!(fault.place, format!("auth.users = '{}'", file.display()));
                assert!(fault.what.ends_with("every user of this machine may write it (mode 0666)"), "{fault:?}");
                assert!(fault.remedy.ends_with("or allow it with broker.files = \"warn\""), "{fault:?}");
            }
            assert_eq!(looked.told.len(), 1 + usize::from(is_told), "{looked:?}");
            assert!(looked.told.iter().any(|line| line.contains("chmod o-rwx")), "{looked:?}");
        }
    }

    /// Is what is no file refused before anybody opens it, and what is not there left to whoever does?
    #[test]
    fn what_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let _bound = UnixListener::bind(&socket).unwrap();
        let fault = strange_kind(&believed(&socket, "listeners.0.key")).unwrap();
        assert_eq!(fault.what, "listeners.0.key is a socket");
        assert!(
            strange_kind(&believed(Path::new("/dev/zero"), "a")).is_some_and(|fault| fault.what == "a is a device")
        );
        for path in [folder.path(), &folder.path().join("none")] {
            assert_eq!(strange_kind(&believed(path, "a")), None);
        }
    }
}
