//! What a log was opened by. Whoever serves on it is configured the same: nothing of that is taken over by a log that is open.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::{Config, StreamConfig};
use crate::error::NodeError;

const REMEDY: &str = "Serve with what the log was opened by, or close it and open it by this configuration.";

/// Settings that the log has from the configuration that it was opened by.
#[derive(Clone, Debug)]
pub(crate) struct OpenedBy {
    settings: Vec<Setting>,
    /// An entry has room for a packet of so many bytes, and smaller ones.
    packet_bytes_max: u32,
}

/// The path of a key, with dots, and its value as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    key: String,
    value: String,
}

/// The folder of the log that this configuration wants, if it wants one.
pub(super) fn folder_of(config: &Config) -> Option<&Path> {
    config.data_dir.as_deref().filter(|_| config.keeps_sessions() || !config.streams.is_empty())
}

impl OpenedBy {
    /// The folder is there already: it counts by where it lies, not by how it is written.
    pub(super) fn new(config: &Config) -> Self {
        OpenedBy { settings: settings_of(config), packet_bytes_max: config.packet_bytes_max() }
    }

    /// Whether a node with this configuration can serve on what was opened; `None`: nothing was.
    ///
    /// # Errors
    /// `Config`: names the first key that says something else, what it was and what it is.
    pub(crate) fn check(opened: Option<&Self>, config: &Config) -> Result<(), NodeError> {
        match (opened, folder_of(config)) {
            (Some(opened), _) => opened.check_same(config),
            (None, None) => Ok(()),
            (None, Some(dir)) => {
                let what = format!("is {dir:?}, and no log was opened by it");
                Err(NodeError::config("data_dir", what, "Open the log by this configuration, and serve on it."))
            }
        }
    }

    fn check_same(&self, config: &Config) -> Result<(), NodeError> {
        let settings = settings_of(config);
        // Lists of streams that are the same have the same keys behind them.
        if let Some((was, is)) = self.settings.iter().zip(&settings).find(|(was, is)| was != is) {
            let what = format!("is {}, but the log was opened by {}", is.value, was.value);
            return Err(NodeError::config(&is.key, what, REMEDY));
        }
        let packet_bytes_max = config.packet_bytes_max();
        if packet_bytes_max > self.packet_bytes_max {
            let what = format!("is {packet_bytes_max}, but the log was opened by {}", self.packet_bytes_max);
            return Err(NodeError::config("limits.packet_bytes_max", what, REMEDY));
        }
        Ok(())
    }
}

/// In an order in which those come first of which others are the consequence.
fn settings_of(config: &Config) -> Vec<Setting> {
    let setting = |key: &str, value: String| Setting { key: key.to_owned(), value };
    let dir = config.data_dir.as_deref().map_or_else(|| "not set".to_owned(), |dir| format!("{:?}", resolved(dir)));
    let durability = if config.keeps_sessions() { "disk" } else { "memory" };
    let names: Vec<&str> = config.streams.keys().map(String::as_str).collect();
    let mut settings = vec![
        setting("data_dir", dir),
        setting("durability", durability.to_owned()),
        setting("streams", format!("{names:?}")),
    ];
    settings.extend(config.streams.iter().flat_map(|(name, stream)| settings_of_stream(name, stream)));
    if config.keeps_sessions() {
        settings.extend([
            setting("log_init_zero", config.log_init_zero.to_string()),
            setting("limits.log_segment_bytes", config.limits.log_segment_bytes.to_string()),
            setting("limits.log_snapshot_bytes", config.limits.log_snapshot_bytes.to_string()),
        ]);
    }
    settings
}

/// What the log knows of a stream; by which messages come to it, and to which partition, the shards decide.
fn settings_of_stream(name: &str, stream: &StreamConfig) -> [Setting; 4] {
    let StreamConfig { filter: _, key: _, partitions, retain_bytes, retain_age_ms, segment_bytes } = stream;
    let setting = |key: &str, value: u64| Setting { key: format!("streams.{name}.{key}"), value: value.to_string() };
    [
        setting("partitions", u64::from(*partitions)),
        setting("retain_bytes", *retain_bytes),
        setting("retain_age_ms", *retain_age_ms),
        setting("segment_bytes", *segment_bytes),
    ]
}

/// Two ways of writing one folder are one folder; one that is not there is what it is called.
fn resolved(dir: &Path) -> PathBuf {
    fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAMS: &str = r#""streams": {"a": {"filter": "a/#", "partitions": 3}, "b": {"filter": "b/#"}}"#;

    fn config(dir: &str, more: &str) -> Config {
        Config::from_json(&format!(r#"{{"data_dir": "{dir}", {more}}}"#)).expect("it is right")
    }

    /// What is said of a configuration with which a node is to serve on a log that was opened with two streams.
    fn said_of(config: &Config) -> Option<String> {
        let opened = OpenedBy::new(&self::config("/not/there", STREAMS));
        OpenedBy::check(Some(&opened), config).err().map(|error| error.to_string())
    }

    /// Is everything named that a log which is open would not take over, with what it was and what it is?
    #[test]
    fn what_is_another_is_named() {
        let limit = |name: &str| format!(r#"{STREAMS}, "limits": {{"{name}": 2097152}}"#);
        for (dir, more, said) in [
            ("/elsewhere", STREAMS, r#"data_dir: is "/elsewhere", but the log was opened by "/not/there""#),
            ("/not/there", &format!(r#"{STREAMS}, "durability": "memory""#), "durability: is memory, but the log was"),
            (
                "/not/there",
                r#""streams": {"a": {"filter": "a/#"}}"#,
                r#"streams: is ["a"], but the log was opened by ["a", "b"]"#,
            ),
            ("/not/there", &STREAMS.replace('3', "2"), "streams.a.partitions: is 2, but the log was opened by 3"),
            ("/not/there", &format!(r#"{STREAMS}, "log_init_zero": false"#), "log_init_zero: is false, but"),
            ("/not/there", &limit("log_segment_bytes"), "limits.log_segment_bytes: is 2097152, but"),
            ("/not/there", &limit("log_snapshot_bytes"), "limits.log_snapshot_bytes: is 2097152, but"),
            ("/not/there", &limit("packet_bytes_max"), "limits.packet_bytes_max: is 2097152, but"),
        ] {
            let error = said_of(&config(dir, more)).expect("it is another");
            assert!(error.contains(said), "{error}");
        }
        let nothing = Config::from_json("{}").expect("the default");
        assert!(said_of(&nothing).expect("no folder").contains("data_dir: is not set, but the log was opened by"));
    }

    /// May what is no matter of the log be another?
    #[test]
    fn what_the_log_does_not_know_may_be_another() {
        for more in [
            STREAMS,
            &STREAMS.replace("a/#", "c/#"),
            &format!(r#"{STREAMS}, "shards": 3, "limits": {{"packet_bytes_max": 1024}}"#),
        ] {
            assert_eq!(said_of(&config("/not/there", more)), None, "{more}");
        }
    }

    /// Is a folder the same however it is written?
    #[test]
    fn a_folder_counts_by_where_it_lies() {
        let dir = tempfile::tempdir().expect("a folder");
        let around = dir.path().join("..").join(dir.path().file_name().expect("it has one"));
        let opened = OpenedBy::new(&config(dir.path().to_str().expect("text"), STREAMS));
        let again = config(around.to_str().expect("text"), STREAMS);
        assert!(OpenedBy::check(Some(&opened), &again).is_ok());
    }

    /// Is a node that would keep nothing, against its configuration, refused?
    #[test]
    fn who_wants_a_log_gets_one() {
        let error = OpenedBy::check(None, &config("/not/there", STREAMS)).expect_err("it wants one");
        assert!(error.to_string().contains(r#"data_dir: is "/not/there", and no log was opened by it"#), "{error}");
        for nothing in ["{}", r#"{"data_dir": "d", "durability": "memory"}"#] {
            let config = Config::from_json(nothing).expect("it is right");
            assert!(OpenedBy::check(None, &config).is_ok());
        }
    }
}
