//! What the reader of a message about damage can do.

use std::path::Path;

/// What to do about a damaged file. What is readable of a damaged segment need not be given up with it.
pub(crate) fn remedy(file: &Path) -> String {
    let folder = file.parent();
    let is_named = |folder: Option<&Path>, name| folder.and_then(Path::file_name).is_some_and(|found| found == name);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match is_named(folder, "log") && !is_named(folder.and_then(Path::parent), "streams") {
        true => format!(
            "restore the data folder from a backup, or go on without what cannot be read of it: \
             lapwing store repair DATA --accept-loss-of log/{name} lists what is lost and asks"
        ),
        false => format!(
            "restore the file from a copy, or go on without what cannot be read of it (lapwing store repair DATA \
             --accept-loss-of {name} lists what is lost and asks), or move this segment and every older one of the stream \
             away (their messages are given up), or delete the stream's folder (all its messages are given up)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does it name the file as `lapwing store repair` wants it, and never a stream's way out for the log of the data groups,
    /// whatever a stream is called?
    #[test]
    fn it_speaks_of_what_is_damaged() {
        let of = |file: &str| remedy(Path::new(file));
        assert!(of("/data/log/0001.log").contains("--accept-loss-of log/0001.log"));
        for file in ["/data/streams/log/0001.log", "/data/streams/readings/0001.log"] {
            assert!(of(file).contains("--accept-loss-of 0001.log") && of(file).contains("delete the stream's folder"));
        }
        assert!(!of("/data/log/0001.log").contains("stream"));
    }
}
