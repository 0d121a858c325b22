//! Whether others may write the data folder, or look into it: what lies there is believed at the next start.
//!
//! The folder itself is judged and not the way to it: who may write one of those above can put another in its place, but none
//! that is ours. One that is missing is made by the start, and its owner's.

use std::path::Path;

use super::FileFault;
use super::trusted::Trusted;
use super::verdict::{Facts, quoted};

/// What counts of it; none: there is none, or it is to be made, or is no folder.
pub(super) fn facts(path: &Path) -> Option<Facts> {
    Facts::behind(path).filter(Facts::is_folder)
}

/// What is wrong with it, and what to do.
pub(super) fn written_by_others(path: &Path, facts: &Facts, trusted: &Trusted) -> Option<FileFault> {
    let facts = facts.not_sticky();
    let who = facts.strange_writer(trusted)?;
    let mended = facts.remedy(trusted, path);
    Some(FileFault {
        what: format!("{} holds what this broker keeps, and {who}", path.display()),
        place: "broker.data".to_owned(),
        remedy: format!("{mended}, name a new folder in it, or allow it with broker.files = \"warn\""),
    })
}

/// What is to be told of it. The folders of the first versions were open to all.
pub(super) fn seen_by_others(path: &Path, facts: &Facts) -> Option<String> {
    let what = "holds what clients have sent, and every user of this machine may look into it";
    let (shown, mended) = (path.display(), quoted(path));
    facts.is_seen_by_all().then(|| format!("{shown} (broker.data) {what}: chmod o-rwx {mended}"))
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    /// Is a folder judged by its mode, itself and behind a link; with the sticky bit, too: others put something there?
    #[test]
    fn by_its_mode() {
        let around = tempfile::tempdir().unwrap();
        let (folder, link) = (around.path().join("a b"), around.path().join("link"));
        create_dir(&folder).unwrap();
        symlink("a b", &link).unwrap();
        let found = folder.metadata().unwrap();
        let trusted = Trusted::exactly([found.uid()], []);
        for (mode, told, is_seen) in [
            (0o700, "", false),
            (0o750, "", false),
            (0o755, "", true),
            (0o701, "", true),
            (0o770, "may write it (mode 0770)", false),
            (0o777, "every user of this machine may write it (mode 0777)", true),
            (0o1777, "every user of this machine may write it (mode 0777)", true),
        ] {
            set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            for path in [&folder, &link] {
                let facts = facts(path).unwrap();
                let fault = written_by_others(path, &facts, &trusted).map(|fault| fault.what).unwrap_or_default();
                assert_eq!(fault.is_empty(), told.is_empty(), "{mode:o}: {fault}");
                assert!(fault.contains(told), "{mode:o}: {fault}");
                assert_eq!(seen_by_others(path, &facts).is_some(), is_seen, "{mode:o}");
            }
        }
    }

    /// Is a folder of somebody else's told with what to do, and one that is to be made not?
    #[test]
    fn by_its_owner() {
        let around = tempfile::tempdir().unwrap();
        let facts_of = facts(around.path()).unwrap();
        let fault = written_by_others(around.path(), &facts_of, &Trusted::exactly([54_321], [])).unwrap();
        assert!(fault.what.contains("holds what this broker keeps, and it belongs to uid"), "{fault:?}");
        assert!(fault.remedy.starts_with("chown -h root ") && fault.remedy.contains("name a new folder in it"));
        assert!(facts(&around.path().join("new")).is_none());
    }
}
