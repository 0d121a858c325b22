//! Decides about one file or folder, from what `stat` says of it. No I/O.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const TYPE: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
const FOLDER: u32 = 0o040_000;
const STICKY: u32 = 0o1000;
const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

/// What counts of a file, folder or symbolic link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub uid: u32,
    pub gid: u32,
    /// Type and permission bits.
    pub mode: u32,
}

impl Facts {
    pub(super) fn of(found: &Metadata) -> Self {
        Facts { uid: found.uid(), gid: found.gid(), mode: found.mode() }
    }

    fn is(&self, kind: u32) -> bool {
        self.mode & TYPE == kind
    }
}

/// Who may write: root, the broker's own account, and groups that nobody else is in.
#[derive(Debug)]
pub(super) struct Trusted {
    pub uids: HashSet<u32>,
    pub gids: HashSet<u32>,
}

/// Who may write it and should not, in words; None: nobody. In a folder with the sticky bit only the owner of what lies
/// there may replace it, and that is judged itself. The mode of a symbolic link means nothing.
pub(super) fn strange_writer(facts: &Facts, trusted: &Trusted) -> Option<String> {
    let mode = facts.mode & 0o7777;
    if !trusted.uids.contains(&facts.uid) {
        return Some(format!("it belongs to uid {}, which is neither root nor the broker's", facts.uid));
    }
    if facts.is(LINK) || (facts.is(FOLDER) && facts.mode & STICKY != 0) {
        return None;
    }
    if facts.mode & OTHERS_WRITE != 0 {
        return Some(format!("every user of this machine may write it (mode {mode:04o})"));
    }
    let is_strange = facts.mode & GROUP_WRITES != 0 && !trusted.gids.contains(&facts.gid);
    is_strange.then(|| format!("group {} may write it (mode {mode:04o})", facts.gid))
}

/// The command that mends what `strange_writer` found.
pub(super) fn remedy(facts: &Facts, trusted: &Trusted, path: &Path) -> String {
    let shown = path.display();
    if !trusted.uids.contains(&facts.uid) {
        return format!("chown -h root '{shown}'");
    }
    let group = if facts.mode & GROUP_WRITES != 0 && !trusted.gids.contains(&facts.gid) { "g" } else { "" };
    let others = if facts.mode & OTHERS_WRITE != 0 { "o" } else { "" };
    format!("chmod {group}{others}-w '{shown}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is whoever may write a file, and is neither root nor this account, found and named?
    #[test]
    fn strange_writers_are_found() {
        let trusted = Trusted { uids: HashSet::from([0, 7]), gids: HashSet::from([0, 70]) };
        let who = |uid, gid, mode| strange_writer(&Facts { uid, gid, mode }, &trusted);
        for quiet in [(0, 0, 0o100_644), (7, 5, 0o100_640), (7, 70, 0o100_664), (0, 0, 0o041_777), (7, 5, 0o120_777)] {
            assert_eq!(who(quiet.0, quiet.1, quiet.2), None, "{quiet:?}");
        }
        for (uid, gid, mode, said) in [
            (8, 0, 0o100_600, "uid 8"),
            (7, 0, 0o100_646, "every user"),
            (7, 5, 0o100_660, "group 5"),
            (0, 0, 0o040_777, "mode 0777"),
        ] {
            assert!(who(uid, gid, mode).is_some_and(|found| found.contains(said)), "{said}");
        }
        let facts = Facts { uid: 7, gid: 5, mode: 0o100_666 };
        assert_eq!(remedy(&facts, &trusted, Path::new("/a b")), "chmod go-w '/a b'");
    }
}
