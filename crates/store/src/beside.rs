//! What lies beside the segments of a folder, and says that there were some: the last one is never deleted, so a folder that has
//! none and one of these has lost them, and is not new.

use std::path::Path;

use crate::error::StoreError;
use crate::segment_file::sequence_of;

/// Made when there are segments, each of them: a start that was cut short before leaves none.
const LATER: [&str; 5] = ["meta", "readers", "spare", "reserve", "snapshots"];
/// The broker's own, in the data folder: written once it keeps data groups, and as long as it runs.
const CLOCK: &str = "clock";

/// Refuses a stream's folder that had segments; `names`: all that lies in it, of which none is a segment's.
///
/// # Errors
/// `Emptied`.
pub(crate) fn check_new_stream(dir: &Path, names: &[String]) -> Result<(), StoreError> {
    match evidence(names) {
        Some(name) => Err(emptied(dir, name, dir.display().to_string())),
        None => Ok(()),
    }
}

/// The same of the journal's; `in_data`: what lies in the data folder around it.
///
/// # Errors
/// `Emptied`.
pub(crate) fn check_new_journal(dir: &Path, names: &[String], in_data: &[String]) -> Result<(), StoreError> {
    let clock = in_data.iter().find(|name| *name == CLOCK);
    let Some(name) = evidence(names).or(clock) else { return Ok(()) };
    let folder = dir.display().to_string();
    let remove = match clock {
        Some(clock) => format!("{folder} and {}", dir.with_file_name(clock).display()),
        None => folder,
    };
    Err(emptied(dir, name, remove))
}

fn emptied(dir: &Path, beside: &str, remove: String) -> StoreError {
    StoreError::Emptied { dir: dir.to_path_buf(), beside: beside.to_owned(), remove }
}

/// The name that says the most.
fn evidence(names: &[String]) -> Option<&String> {
    let later = LATER.iter().find_map(|later| names.iter().find(|name| name == later));
    later.or_else(|| names.iter().filter(|name| sequence_of(name, ".idx").is_some()).min())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Is each of them evidence, and is nothing that a start leaves which a crash has cut short, or that others put there?
    #[test]
    fn what_is_made_with_segments_tells_of_them() {
        let of = |names: &[&str]| {
            let refused = check_new_stream(Path::new("/data/streams/s"), &strings(names)).err();
            refused.map(|error| error.to_string())
        };
        let index = "00000000000000000007.idx";
        for name in ["meta", "readers", "spare", "reserve", "snapshots", index] {
            let told = of(&["meta.tmp", name]).expect("refused");
            assert!(told.contains(&format!("and {name} is")) && told.contains("remove /data/streams/s to"), "{told}");
        }
        assert!(of(&[index, "snapshots", "meta"]).is_some_and(|told| told.contains("and meta is")));
        for names in [&[][..], &["meta.tmp", "00000000000000000001.tmp"], &["notes.txt", "7.idx", "lost+found"]] {
            assert_eq!(of(names), None, "{names:?}");
        }
    }

    /// Does the broker's clock tell of a journal that is gone with its folder, and has it to go, too?
    #[test]
    fn the_clock_tells_of_the_journal() {
        let of = |names: &[&str], in_data: &[&str]| {
            let refused = check_new_journal(Path::new("/data/log"), &strings(names), &strings(in_data)).err();
            refused.map(|error| error.to_string())
        };
        assert_eq!(of(&[], &["format", "lock", "log", "streams", "stamps"]), None);
        for names in [&[][..], &["meta"]] {
            let told = of(names, &["clock", "format"]).expect("refused");
            assert!(told.contains("remove /data/log and /data/clock to"), "{told}");
        }
        assert!(of(&["snapshots"], &["format"]).is_some_and(|told| told.contains("remove /data/log to")));
    }
}
