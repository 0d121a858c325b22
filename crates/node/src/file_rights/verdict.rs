//! Decides about one file or folder, from what `stat` says of it. No I/O.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::trusted::Trusted;

const TYPE: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const PIPE: u32 = 0o010_000;
const SOCKET: u32 = 0o140_000;
const STICKY: u32 = 0o1000;
const GROUP_WRITES: u32 = 0o020;
const OTHERS_READ: u32 = 0o004;
const OTHERS_WRITE: u32 = 0o002;
const OTHERS_SEARCH: u32 = 0o001;

/// What counts of a file, folder or symbolic link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub uid: u32,
    pub gid: u32,
    /// Type and permission bits.
    pub mode: u32,
}

impl Facts {
    /// Of what lies there, a link as itself; none: there is nothing, or nobody tells, and whoever opens it says why.
    pub(super) fn at(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().map(|found| Facts::of(&found))
    }

    /// The same of what a link leads to.
    pub(super) fn behind(path: &Path) -> Option<Self> {
        path.metadata().ok().map(|found| Facts::of(&found))
    }

    fn of(found: &Metadata) -> Self {
        Facts { uid: found.uid(), gid: found.gid(), mode: found.mode() }
    }

    fn is(&self, kind: u32) -> bool {
        self.mode & TYPE == kind
    }

    pub(super) fn is_folder(&self) -> bool {
        self.is(FOLDER)
    }

    /// The same without the sticky bit: it keeps others from what lies in a folder, and not from putting something there.
    pub(super) fn not_sticky(self) -> Self {
        Facts { mode: self.mode & !STICKY, ..self }
    }

    /// Whether every user may read it. A group is let read on purpose, so that two accounts can share a key.
    pub(super) fn is_read_by_all(&self) -> bool {
        self.mode & OTHERS_READ != 0
    }

    /// Whether every user may look into this folder.
    pub(super) fn is_seen_by_all(&self) -> bool {
        self.mode & (OTHERS_READ | OTHERS_SEARCH) != 0
    }

    /// What it is, in words, where it is neither a file nor a folder nor a link.
    pub(super) fn strange_kind(&self) -> Option<&'static str> {
        match self.mode & TYPE {
            FILE | FOLDER | LINK => None,
            PIPE => Some("a pipe"),
            SOCKET => Some("a socket"),
            _ => Some("a device"),
        }
    }

    /// Who may write it and should not, in words; none: nobody. In a folder with the sticky bit only the owner of what lies
    /// there may replace it, and that is judged itself. The mode of a symbolic link means nothing.
    pub(super) fn strange_writer(&self, trusted: &Trusted) -> Option<String> {
        let mode = self.mode & 0o7777;
        if !trusted.has_user(self.uid) {
            return Some(format!("it belongs to uid {}, which is neither root nor the broker's", self.uid));
        }
        if self.is(LINK) || (self.is(FOLDER) && self.mode & STICKY != 0) {
            return None;
        }
        if self.mode & OTHERS_WRITE != 0 {
            return Some(format!("every user of this machine may write it (mode {mode:04o})"));
        }
        self.has_strange_group(trusted).then(|| format!("group {} may write it (mode {mode:04o})", self.gid))
    }

    /// The command that mends what `strange_writer` found.
    pub(super) fn remedy(&self, trusted: &Trusted, path: &Path) -> String {
        if !trusted.has_user(self.uid) {
            return format!("chown -h root {}", quoted(path));
        }
        let group = if self.has_strange_group(trusted) { "g" } else { "" };
        let others = if self.mode & OTHERS_WRITE != 0 { "o" } else { "" };
        format!("chmod {group}{others}-w {}", quoted(path))
    }

    fn has_strange_group(&self, trusted: &Trusted) -> bool {
        self.mode & GROUP_WRITES != 0 && !trusted.has_group(self.gid)
    }
}

/// A path as one word of a command.
pub(super) fn quoted(path: &Path) -> String {
    let shown = path.to_string_lossy();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "@%+=:,./_-".contains(character);
    if !shown.is_empty() && shown.chars().all(is_plain) {
        return shown.into_owned();
    }
    format!("'{}'", shown.replace('\'', r#"'"'"'"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u32 = 1_001;
    const OTHER: u32 = 1_002;
    const OWN_GROUP: u32 = 2_001;
    const OTHER_GROUP: u32 = 2_002;
    const SAFE: [u32; 6] = [0o600, 0o644, 0o640, 0o755, 0o444, 0o400];
    const BY_GROUP: [u32; 4] = [0o620, 0o664, 0o775, 0o670];
    const BY_ALL: [u32; 5] = [0o602, 0o606, 0o646, 0o666, 0o777];

    fn trusted() -> Trusted {
        Trusted::exactly([0, OWN], [0, OWN_GROUP])
    }

    /// The word of the reason; empty: nobody strange. Written as a table of what is forbidden.
    fn expected(kind: u32, uid: u32, gid: u32, mode: u32) -> String {
        match () {
            () if uid == OTHER => "belongs to uid 1002".to_owned(),
            () if kind == LINK || kind == FOLDER | STICKY => String::new(),
            () if BY_ALL.contains(&mode) => "every user of this machine".to_owned(),
            () if BY_GROUP.contains(&mode) && gid == OTHER_GROUP => {
                format!("group {gid} may write it (mode {mode:04o})")
            }
            () => String::new(),
        }
    }

    /// Is whoever may write found and named, in every combination of kind, owner, group and mode?
    #[test]
    fn every_combination() {
        for kind in [FILE, FOLDER, FOLDER | STICKY, LINK] {
            for uid in [0, OWN, OTHER] {
                for gid in [0, OWN_GROUP, OTHER_GROUP] {
                    for mode in SAFE.into_iter().chain(BY_GROUP).chain(BY_ALL) {
                        let said = Facts { uid, gid, mode: kind | mode }.strange_writer(&trusted()).unwrap_or_default();
                        let wanted = expected(kind, uid, gid, mode);
                        assert_eq!(said.is_empty(), wanted.is_empty(), "{kind:o} {uid} {gid} {mode:o}: {said}");
                        assert!(said.contains(&wanted), "{kind:o} {uid} {gid} {mode:o}: {said}");
                    }
                }
            }
        }
    }

    /// Does the command name all that is to be changed, so that the next start says nothing?
    #[test]
    fn the_command_mends_it() {
        for (uid, gid, mode, path, command) in [
            (OTHER, 0, 0o600, "/a b", "chown -h root '/a b'"),
            (OWN, OTHER_GROUP, 0o620, "/a b", "chmod g-w '/a b'"),
            (OWN, 0, 0o606, "/it's", r#"chmod o-w '/it'"'"'s'"#),
            (OWN, OTHER_GROUP, 0o666, "/a/b.toml", "chmod go-w /a/b.toml"),
        ] {
            let facts = Facts { uid, gid, mode: FILE | mode };
            assert_eq!(facts.remedy(&trusted(), Path::new(path)), command);
        }
    }

    /// May a group read what is secret, and everybody not?
    #[test]
    fn who_reads() {
        let is_read = |mode| Facts { uid: 0, gid: 0, mode: FILE | mode }.is_read_by_all();
        assert_eq!([0o600, 0o640, 0o660, 0o644, 0o604].map(is_read), [false, false, false, true, true]);
        let is_seen = |mode| Facts { uid: 0, gid: 0, mode: FOLDER | mode }.is_seen_by_all();
        assert_eq!([0o700, 0o750, 0o755, 0o701, 0o770].map(is_seen), [false, false, true, true, false]);
    }

    /// Is what is no file called what it is?
    #[test]
    fn kinds() {
        let kind = |mode| Facts { uid: 0, gid: 0, mode }.strange_kind();
        assert_eq!([FILE, FOLDER, LINK].map(kind), [None; 3]);
        let named = [PIPE, SOCKET, 0o020_000, 0o060_000].map(kind);
        assert_eq!(named, [Some("a pipe"), Some("a socket"), Some("a device"), Some("a device")]);
    }
}
