//! Certificates that are not good yet, not any more, or not for long: a line each. None is a reason not to start: a renewed file
//! counts from the next SIGHUP on. Revocation lists that are over the node tells of itself.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lapwing_files::{CERTIFICATE_BYTES_MAX, read_file};
use lapwing_node::{WallTime, certificate_times};

use crate::configuration::Configuration;

const DAY: Duration = Duration::from_secs(86_400);
/// How long before its end it is told.
const AHEAD: Duration = Duration::from_secs(30 * 86_400);

/// What there is to tell now; a file that cannot be read is left to whoever uses it.
pub(crate) fn notices(configuration: &Configuration) -> Vec<String> {
    let rest = &configuration.own.rest;
    let mut files = Vec::new();
    for (number, listener) in configuration.node.listeners.iter().enumerate() {
        for (key, file) in [("certificate", &listener.certificate), ("client_ca", &listener.client_ca)] {
            files.extend(file.clone().map(|file| (format!("listeners.{number}.{key}"), file)));
        }
    }
    let keys = ["auth.jwt.jwks_ca", "auth.http.ca"];
    files.extend(keys.into_iter().filter_map(|key| Some((key.to_owned(), rest.file(key)?))));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    files.iter().flat_map(|(key, file)| of_file(file, key, now)).collect()
}

fn of_file(file: &Path, key: &str, now: Duration) -> Vec<String> {
    let Ok(pem) = read_file(file, CERTIFICATE_BYTES_MAX) else { return Vec::new() };
    let found = certificate_times(&pem);
    let told = |(number, what): (usize, String)| match found.len() {
        1 => format!("{} ({key}): {what}", file.display()),
        many => format!("{} ({key}): of {many}, number {} {what}", file.display(), number + 1),
    };
    let certificates = found.iter().enumerate().filter(|(_, times)| !times.is_list);
    certificates
        .filter_map(|(number, times)| Some((number, verdict(times.from, times.until, now)?)))
        .map(told)
        .collect()
}

/// What to tell of one; None: nothing.
fn verdict(from: Duration, until: Option<Duration>, now: Duration) -> Option<String> {
    if from > now {
        let day = WallTime::since_epoch(from).day();
        return Some(format!("the certificate is not good before {day}: is the clock of this machine right?"));
    }
    let left = until?.checked_sub(now).unwrap_or_default();
    let day = WallTime::since_epoch(until?).day();
    if left.is_zero() {
        return Some(format!(
            "the certificate has expired on {day}, and whoever looks at it refuses it: renew it, and send SIGHUP"
        ));
    }
    let soon = match left.as_secs() / DAY.as_secs() {
        0 => "within a day".to_owned(),
        1 => "in 1 day".to_owned(),
        days => format!("in {days} days"),
    };
    (left < AHEAD).then(|| format!("the certificate expires on {day}, {soon}: renew it, and send SIGHUP"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_is_told() {
        let days = |days: u64| Duration::from_secs(days * DAY.as_secs());
        let said = |from, until| verdict(days(from), Some(days(until)), days(100)).unwrap_or_default();
        assert!(said(101, 200).contains("not good before 1970-04-12"));
        assert!(said(0, 100).contains("has expired on 1970-04-11"));
        assert!(said(0, 110).contains("expires on 1970-04-21, in 10 days"));
        assert_eq!(said(0, 130), "");
        assert_eq!(verdict(days(0), None, days(100)), None);
    }
}
