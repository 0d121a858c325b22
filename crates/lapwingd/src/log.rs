//! The broker's lines on standard error, as text or as JSON, at the level that is wanted of their subject.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use lapwing_node::{LogLine, WallTime, one_line};
use serde_json::{Map, Value as Json};

use crate::arguments::Arguments;
use crate::configuration::LogSettings;
use crate::standard_error::StandardError;

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
    /// Whoever writes a line has it, and no longer than a reader is waited for.
    out: Mutex<StandardError>,
}

impl Default for Log {
    /// As long as nobody has said anything else.
    fn default() -> Self {
        let is_json = std::env::var("LAPWING_LOG__FORMAT").is_ok_and(|format| format == "json");
        Log {
            is_json,
            level: "info".into(),
            levels: BTreeMap::new(),
            serves: AtomicBool::new(false),
            out: Mutex::default(),
        }
    }
}

impl Log {
    /// As far as the command line and the environment say it, for what keeps a configuration from being read.
    pub(crate) fn early(arguments: &Arguments) -> Self {
        let said = arguments.named.iter().rev().find(|(flag, ..)| *flag == "--log-format");
        let log = Log::default();
        Log { is_json: said.map_or(log.is_json, |(_, _, format)| format == "json"), ..log }
    }

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
            self.put(&one_line(text.to_owned()));
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
        self.put(&self.form(subject, level, text, facts));
    }

    fn put(&self, line: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write(line, |said| self.form("other", "notice", said, Map::new()));
    }

    /// The line without its end.
    fn form(&self, subject: &str, level: &str, text: &str, facts: Map<String, Json>) -> String {
        let text = one_line(text.to_owned());
        if !self.is_json {
            let word = if level == "warning" { "notice" } else { level };
            return format!("{word}: {text}");
        }
        let mut document = Map::new();
        for (key, value) in
            [("at", WallTime::now().with_ms()), ("level", level.into()), ("subject", subject.into()), ("message", text)]
        {
            document.insert(key.into(), Json::String(value));
        }
        document.extend(facts);
        Json::Object(document).to_string()
    }
}

/// Writes on standard output.
///
/// # Errors
/// Whoever read it has left, or has no room.
pub(crate) fn say(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}
