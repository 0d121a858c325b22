//! Folders in which Python looks for a module before it finds it further behind: who may write one puts another module there,
//! which is run in its place.
//!
//! Each is judged with the way to it, as files are. The sticky bit does not help the folder itself: it keeps others from what
//! lies there, and not from putting something there. One that is missing can be made by who may write where it would lie.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::trusted::Trusted;
use super::verdict::Facts;
use super::{Believed, FileFault, ways};

/// What is wrong with them, each folder once. `named`: what has been said of files already, and what is said here.
pub(super) fn written_by_others(
    searched: &[Believed],
    trusted: &Trusted,
    named: &mut HashSet<PathBuf>,
) -> Vec<FileFault> {
    let mut found = Vec::new();
    for folder in searched {
        let on_the_way = ways::to(&folder.path).into_iter().filter_map(|path| Facts::at(&path).map(|at| (path, at)));
        let itself = nearest(&folder.path).and_then(|path| Facts::at(&path).map(|at| (path, at.not_sticky())));
        for (path, facts) in on_the_way.chain(itself) {
            let Some(who) = facts.strange_writer(trusted) else { continue };
            if named.insert(path.clone()) {
                found.push(FileFault {
                    what: format!("{} decides which modules this broker imports, and {who}", path.display()),
                    place: format!("{}, through '{}' in sys.path", folder.key, folder.path.display()),
                    remedy: format!(
                        "{}, take it out of sys.path (PYTHONPATH, or start elsewhere), or allow it with broker.files = \"warn\"",
                        facts.remedy(trusted, &path)
                    ),
                });
            }
        }
    }
    found
}

/// The folder itself, links followed, or the last one on the way to it that is there.
fn nearest(path: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(path).ok()?;
    whole.ancestors().find_map(|path| path.canonicalize().ok())
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir, metadata, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn searched(path: &Path) -> Believed {
        Believed { path: path.to_owned(), key: "hooks.use".to_owned(), is_secret: false }
    }

    /// What is said of `path`, of what lies in `around`.
    fn said(path: &Path, around: &Path, trusted: &Trusted) -> Vec<FileFault> {
        let found = written_by_others(&[searched(path), searched(path)], trusted, &mut HashSet::new());
        found.into_iter().filter(|fault| fault.what.contains(&*around.to_string_lossy())).collect()
    }

    /// Is a folder judged by its mode, itself, behind a link and where it is yet to be made; with the sticky bit, too?
    #[test]
    fn by_its_mode() {
        let around = tempfile::tempdir().unwrap();
        let around = around.path().canonicalize().unwrap();
        let (folder, link, missing) = (around.join("a b"), around.join("link"), around.join("a b/not/there"));
        create_dir(&folder).unwrap();
        symlink("a b", &link).unwrap();
        let found = metadata(&folder).unwrap();
        let trusted = Trusted::exactly([0, found.uid()], [0, found.gid()]);
        for (mode, is_named) in [(0o700, false), (0o755, false), (0o777, true), (0o1777, true)] {
            set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            for path in [&folder, &link, &missing] {
                let faults = said(path, &around, &trusted);
                assert_eq!(faults.len(), usize::from(is_named), "{mode:o} {}: {faults:?}", path.display());
                for fault in faults {
                    let what =
                        format!("{} decides which modules this broker imports, and every user", folder.display());
                    assert!(fault.what.starts_with(&what), "{fault:?}");
                    assert_eq!(fault.place, format!("hooks.use, through '{}' in sys.path", path.display()));
                    assert!(fault.remedy.starts_with(&format!("chmod o-w '{}', take it out", folder.display())));
                }
            }
        }
    }

    /// Is one that belongs to somebody else named, also where only the way to it does; and what was named before, not again?
    #[test]
    fn by_its_owner() {
        let around = tempfile::tempdir().unwrap();
        let around = around.path().canonicalize().unwrap();
        let folder = around.join("inner");
        create_dir(&folder).unwrap();
        // Whoever runs this: the folders are a stranger's to nobody but themselves.
        let strange = Trusted::exactly([], []);
        let faults = said(&folder, &around, &strange);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults.iter().all(|fault| fault.what.contains("belongs to uid")), "{faults:?}");
        let mut named = HashSet::from([around.clone()]);
        let left = written_by_others(&[searched(&folder)], &strange, &mut named);
        assert!(left.iter().all(|fault| !fault.what.starts_with(&format!("{} decides", around.display()))));
        assert!(named.contains(&folder));
    }
}
