//! What lies beside the segments of a folder, and says that there were some: the last one is never deleted, so a folder that has
//! none and one of these has lost them, and is not new.

use std::path::Path;

use crate::error::StoreError;
use crate::segment_file::sequence_of;

/// Made when there are segments, each of them: a start that was cut short before leaves none.
const LATER: [&str; 5] = ["meta", "readers", "spare", "reserve", "snapshots"];

/// Refuses a folder that had segments; `names`: all that lies in it, of which none is a segment's.
///
/// # Errors
/// `Emptied`.
pub(crate) fn check_new(dir: &Path, names: &[String]) -> Result<(), StoreError> {
    match evidence(names) {
        Some(name) => Err(StoreError::Emptied { dir: dir.to_path_buf(), beside: name.clone() }),
        None => Ok(()),
    }
}

/// The name that says the most.
fn evidence(names: &[String]) -> Option<&String> {
    let later = LATER.iter().find_map(|later| names.iter().find(|name| name == later));
    later.or_else(|| names.iter().filter(|name| sequence_of(name, ".idx").is_some()).min())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each of them evidence, and is nothing that a start leaves which a crash has cut short, or that others put there?
    #[test]
    fn what_is_made_with_segments_tells_of_them() {
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            check_new(Path::new("/data/log"), &names).err().map(|error| error.to_string())
        };
        let index = "00000000000000000007.idx";
        for name in ["meta", "readers", "spare", "reserve", "snapshots", index] {
            let told = of(&["meta.tmp", name]).expect("refused");
            assert!(told.contains(&format!("its {name} is")) && told.contains("/data/log"), "{told}");
        }
        assert!(of(&[index, "snapshots", "meta"]).is_some_and(|told| told.contains("its meta is")));
        for names in [&[][..], &["meta.tmp", "00000000000000000001.tmp"], &["notes.txt", "7.idx", "lost+found"]] {
            assert_eq!(of(names), None, "{names:?}");
        }
    }
}
