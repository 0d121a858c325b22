//! What the process may have: the memory of the machine, or less where a container says so.

use std::fs;
use std::path::{Path, PathBuf};

/// Where Linux shows the limits of control groups.
const GROUPS: &str = "/sys/fs/cgroup";
/// Where a Linux process reads which group it is in.
const OWN_GROUP: &str = "/proc/self/cgroup";
/// Taken when nothing at all can be learned: small enough for any machine that runs a broker.
const UNKNOWN_BYTES: u64 = 1 << 30;

/// Bytes that the process may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Available {
    pub bytes: u64,
    /// Who has said so.
    pub source: Source,
}

/// Who says how much there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Machine,
    Group,
    /// Nobody.
    Unknown,
}

impl Available {
    /// What machine and control groups say now.
    pub(super) fn found() -> Self {
        let own_group = fs::read_to_string(OWN_GROUP).unwrap_or_default();
        Self::of(physical(), smallest(&files(&own_group)))
    }

    fn of(machine: Option<u64>, group: Option<u64>) -> Self {
        match (machine, group) {
            (Some(machine), Some(bytes)) if bytes < machine => Available { bytes, source: Source::Group },
            (Some(bytes), _) => Available { bytes, source: Source::Machine },
            (None, Some(bytes)) => Available { bytes, source: Source::Group },
            (None, None) => Available { bytes: UNKNOWN_BYTES, source: Source::Unknown },
        }
    }

    /// What of it clients and messages may have.
    pub(super) fn three_quarters(self) -> u64 {
        self.bytes / 4 * 3
    }
}

/// The memory of the machine.
fn physical() -> Option<u64> {
    // SAFETY: sysconf only reads numbers of the system and takes no pointer.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).ok()?.checked_mul(u64::try_from(page).ok()?).filter(|bytes| *bytes > 0)
}

/// The files that may hold a limit: those of the process's group and of every group above it, for both versions of
/// control groups. Inside a container the own path may not exist there; then the root's file says it.
fn files(own_group: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in own_group.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, file) = match controllers {
            "" => (PathBuf::from(GROUPS), "memory.max"),
            controllers if controllers.split(',').any(|controller| controller == "memory") => {
                (Path::new(GROUPS).join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let own = Path::new(path.trim_start_matches('/'));
        files.extend(own.ancestors().map(|group| root.join(group).join(file)));
    }
    files
}

/// The smallest limit in `files`; a file that is not there, or says "max", limits nothing.
fn smallest(files: &[PathBuf]) -> Option<u64> {
    let limit = |file: &PathBuf| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    files.iter().filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is what counts the smaller of the two, and is said whose it is?
    #[test]
    fn the_smaller_of_machine_and_group() {
        for (machine, group, bytes, source) in [
            (Some(8), Some(5), 5, Source::Group),
            (Some(8), Some(9), 8, Source::Machine),
            (Some(8), None, 8, Source::Machine),
            (None, Some(9), 9, Source::Group),
            (None, None, UNKNOWN_BYTES, Source::Unknown),
        ] {
            assert_eq!(Available::of(machine, group), Available { bytes, source });
        }
    }

    /// Does the machine have memory, in bytes and not in pages?
    #[test]
    fn the_machine_has_memory() {
        assert!(physical().is_some_and(|bytes| bytes >= 1 << 24));
    }

    /// Are the files of both versions found, from the own group up to the root?
    #[test]
    fn limits_are_looked_for_in_every_group_above() {
        let shown = |own: &str| files(own).iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
        assert_eq!(
            shown("0::/a/b\n"),
            ["/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/memory.max"]
        );
        assert_eq!(
            shown("5:cpu,memory:/c\n4:pids:/c\n"),
            ["/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        );
        assert!(shown("nonsense").is_empty());
    }

    /// Does the smallest number win, and is a word or a missing file no limit?
    #[test]
    fn the_smallest_limit_holds() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let files = [file("a", "max\n"), file("b", "5000\n"), file("c", "4000\n"), dir.path().join("missing")];
        assert_eq!(smallest(&files), Some(4000));
        assert_eq!(smallest(&files[..1]), None);
        assert!(Available::found().bytes > 0);
    }
}
