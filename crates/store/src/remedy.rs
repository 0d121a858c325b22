//! What the reader of a message about damage can do.

use std::path::Path;

/// What to do about a file that is damaged at this byte. What is readable of a damaged segment need not be given up with it,
/// but for a segment whose opening is damaged, or that is not there (byte 0): `repair` does not give it up.
pub(crate) fn remedy(file: &Path, at: u64) -> String {
    let folder = file.parent();
    let is_named = |folder: Option<&Path>, name| folder.and_then(Path::file_name).is_some_and(|found| found == name);
    let is_of_stream = is_named(folder.and_then(Path::parent), "streams");
    let is_of_journal = is_named(folder, "log") && !is_of_stream;
    let is_segment = file.extension().is_some_and(|ending| ending == "log" || ending == "kept");
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let moved = "move this segment and every older one of the stream away (their messages are given up)";
    let deleted = "delete the stream's folder (all its messages are given up)";
    match (is_of_journal, is_segment && at > 0) {
        (true, true) => format!(
            "restore the data folder from a backup, or go on without what cannot be read of it: \
             lapwing store repair DATA --accept-loss-of log/{name} lists what is lost and asks"
        ),
        (false, true) => format!(
            "restore the file from a copy, or go on without what cannot be read of it (lapwing store repair DATA \
             --accept-loss-of {name} lists what is lost and asks), or {moved}, or {deleted}"
        ),
        (_, false) if is_of_stream && is_segment => format!("restore the file from a copy, or {moved}, or {deleted}"),
        (_, false) if is_of_stream => format!("restore the file from a copy, or {deleted}"),
        (_, false) => "restore the data folder from a backup".to_owned(),
    }
}

/// Who holds a folder.
pub(crate) fn holder(pid: &Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does it name the file as `lapwing store repair` wants it, and never a stream's way out for the log of the data groups,
    /// whatever a stream is called?
    #[test]
    fn it_speaks_of_what_is_damaged() {
        let of = |file: &str| remedy(Path::new(file), 2_048);
        assert!(of("/data/log/0001.log").contains("--accept-loss-of log/0001.log"));
        for file in ["/data/streams/log/0001.log", "/data/streams/readings/0001.log"] {
            assert!(of(file).contains("--accept-loss-of 0001.log") && of(file).contains("delete the stream's folder"));
        }
        assert!(!of("/data/log/0001.log").contains("stream"));
    }

    /// Is nothing said to be given up that `lapwing store repair` would then refuse: an opening, a file that is no segment?
    #[test]
    fn what_cannot_be_given_up_is_not_recommended() {
        let of = |file: &str, at| remedy(Path::new(file), at);
        let whole = ["/data/log/0001.log", "/data/log/0001.kept", "/data/log/meta", "/data/format"];
        assert!(whole.iter().all(|file| of(file, 0) == "restore the data folder from a backup"));
        assert_eq!(of("/data/log/snapshots/00-0001.snap", 40), of("/data/format", 0));
        let segment = of("/data/streams/readings/0001.log", 0);
        assert!(
            segment.contains("every older one") && segment.ends_with("(all its messages are given up)"),
            "{segment}"
        );
        let described = of("/data/streams/log/meta", 0);
        assert!(
            described.ends_with("(all its messages are given up)") && !described.contains("every older"),
            "{described}"
        );
        assert!(!format!("{segment}{described}").contains("accept-loss-of"));
    }
}
