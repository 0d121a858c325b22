//! The broker's lines on standard error, as text or as JSON, at the level that is wanted of their subject.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use lapwing_node::{LogLine, one_line};
use serde_json::{Map, Value as Json};

use crate::configuration::LogSettings;

/// From what is said most to what is said in any case; "off" is above all.
const LEVELS: [&str; 5] = ["info", "notice", "warning", "error", "off"];

/// Where lines go.
#[derive(Debug)]
pub(crate) struct Log {
    is_json: bool,
    level: String,
    levels: BTreeMap<String, String>,
    /// Clients can connect: what is wrong from now on ends a broker, and starts none.
    serves: AtomicBool,
}

impl Default for Log {
    /// As long as nobody has said anything else.
    fn default() -> Self {
        let is_json = std::env::var("LAPWING_LOG__FORMAT").is_ok_and(|format| format == "json");
        Log { is_json, level: "info".into(), levels: BTreeMap::new(), serves: AtomicBool::new(false) }
    }
}

impl Log {
    pub(crate) fn of(settings: &LogSettings) -> Self {
        Log {
            is_json: settings.is_json,
            level: settings.level.clone(),
            levels: settings.levels.clone(),
            ..Log::default()
        }
    }

    /// A line of the node.
    pub(crate) fn line(&self, line: &LogLine) {
        let level = match (line.is_alarm, line.subject) {
            (true, _) => "warning",
            (false, "clients") => "info",
            (false, _) => "notice",
        };
        let facts = line.facts.as_deref().and_then(|facts| serde_json::from_str(facts).ok());
        self.say(line.subject, level, &line.text, facts.unwrap_or_default());
    }

    /// Something that the operator should know.
    pub(crate) fn notice(&self, text: &str, subject: &str) {
        self.say(subject, "notice", text, Map::new());
    }

    /// Something that did not go as the operator wanted.
    pub(crate) fn warning(&self, text: &str) {
        self.say("other", "warning", text, Map::new());
    }

    /// What happens to the broker itself as it ends, whatever level is wanted.
    pub(crate) fn step(&self, text: &str) {
        if self.is_json {
            self.write("end", "notice", text, Map::new())
        } else {
            put(&format!("{}\n", one_line(text.to_owned())))
        }
    }

    /// Why there is no broker, or none any more, whatever level is wanted.
    pub(crate) fn failure(&self, text: &str) {
        let subject = if self.serves.load(Ordering::Relaxed) { "end" } else { "start" };
        self.write(subject, "error", text, Map::new());
    }

    /// Clients can connect.
    pub(crate) fn serves(&self) {
        self.serves.store(true, Ordering::Relaxed);
    }

    fn say(&self, subject: &str, level: &str, text: &str, facts: Map<String, Json>) {
        let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
        if rank(level) >= rank(self.levels.get(subject).unwrap_or(&self.level)) {
            self.write(subject, level, text, facts);
        }
    }

    fn write(&self, subject: &str, level: &str, text: &str, facts: Map<String, Json>) {
        let text = one_line(text.to_owned());
        if !self.is_json {
            let word = if level == "warning" { "notice" } else { level };
            return put(&format!("{word}: {text}\n"));
        }
        let mut document = Map::new();
        for (key, value) in [("at", now()), ("level", level.into()), ("subject", subject.into()), ("message", text)] {
            document.insert(key.into(), Json::String(value));
        }
        document.extend(facts);
        put(&format!("{}\n", Json::Object(document)));
    }
}

/// Writes on standard output.
pub(crate) fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    // Whoever read it has left: nobody to say it to, and a broker that serves is worth more than its words.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn put(line: &str) {
    // As above.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// The wall clock, UTC: `2026-11-26T20:00:51.123Z`.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (day, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(day);
    let (hour, minute, second, ms) = (second / 3_600, second / 60 % 60, second % 60, since.subsec_millis());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The date of a day since 1970, by years that begin in March, so that a leap day is the last of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (days, shown) in [(0, (1970, 1, 1)), (59, (1970, 3, 1)), (11_016, (2000, 2, 29)), (20_783, (2026, 11, 26))]
        {
            assert_eq!(date(days), shown);
        }
    }
}
