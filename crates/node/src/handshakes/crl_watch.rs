//! Tells the operator that a revocation list is about to be over, and that it is: from then on no client certificate is taken.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// So long before the end it is told.
const AHEAD: Duration = Duration::from_secs(24 * 3600);

/// What was told of each listener's list that ends first: until when it holds, and whether that is over.
#[derive(Debug, Default)]
pub(super) struct CrlWatch(HashMap<String, (SystemTime, bool)>);

impl CrlWatch {
    /// The line to tell of the listener at `url`, whose first list, in `file`, holds until `end`; each is told once.
    pub(super) fn look(&mut self, url: &str, end: SystemTime, file: &Path, now: SystemTime) -> Option<String> {
        let is_over = end <= now;
        if end > now + AHEAD || self.0.get(url) == Some(&(end, is_over)) {
            return None;
        }
        self.0.insert(url.to_owned(), (end, is_over));
        let file = file.display();
        Some(if is_over {
            format!(
                "{url} takes no client certificate any more: the revocation list in {file} is over; write the newest one into \
                 this file and send SIGHUP"
            )
        } else {
            format!(
                "{url} will take no client certificate within a day: the revocation list in {file} is over then; write the \
                 newest one into this file and send SIGHUP"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a simulated clock, looked at each minute: is the end told a day ahead and when it is there, once each, and again
    /// of the list that came after?
    #[test]
    fn an_end_is_told_twice() {
        let at = |s: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(s);
        let mut watch = CrlWatch::default();
        let mut told = vec![];
        for minute in 0..5000 {
            let now_s = minute * 60;
            // Renewed an hour late, for two days more.
            let end_s = if now_s < 176_400 { 172_800 } else { 345_600 };
            told.extend(watch.look("tls://h:1", at(end_s), Path::new("a.crl"), at(now_s)).map(|line| (now_s, line)));
        }
        assert_eq!(told.iter().map(|(s, _)| *s).collect::<Vec<_>>(), [86_400, 172_800, 259_200]);
        assert!(told[0].1.contains("within a day") && told[1].1.contains("any more"));
        assert!(told.iter().all(|(_, line)| line.contains("tls://h:1") && line.contains("a.crl")));
    }
}
