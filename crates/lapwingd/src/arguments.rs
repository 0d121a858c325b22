//! The command line: as that of `lapwing broker`, as far as there is something of it here.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::fault::{Fault, Faults};

const HELP: &str = "\
Usage: lapwingd [OPTIONS]

A broker for the edge: MQTT, MQTT-SN, TLS and WebSocket, streams, groups, users and rules, without Python. It takes the
configuration and the data folder of `lapwing broker`, and refuses by name what only that has.

Options:
  --config FILE       Configuration in TOML; relative paths in it are relative to it.
  --listen URL        MQTT listener, as tcp://127.0.0.1:1883; repeatable.
  --http HOST:PORT    Streams, /metrics, /healthz and /readyz, on loopback; \"off\" for none.
  --http-open         HTTP does everything for everybody, though certificates guard MQTT.
  --profile NAME      \"edge\": defaults for little memory, flash and few clients.
  --data DIR          Folder of the log; made if missing.
  --set KEY=VALUE     One setting, as broker.shards=2; repeatable.
  --log-format FORMAT Of standard error: text, json, auto.
  --json              Print one JSON object per line.
  --check             Say what a start would refuse of the configuration, and do not start.
  --running           With --check: a broker runs with it; ports and the data folder are left out.
  --version           Print the version and exit.
  -h, --help          Print this and exit.

The environment (LAPWING_BROKER__SHARDS=2) lies over the file, and flags over the environment. SIGTERM and Ctrl-C drain,
a second one stops at once; SIGHUP reads users, rules, topics, groups and certificates again. Exit codes: 0 stopped in
order, 1 failed, 2 a wrong setting, 70 a defect.
";

/// What a broker is started with.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The configuration file.
    pub config: Option<PathBuf>,
    /// Texts of `--set`.
    pub settings: Vec<String>,
    /// Flags with names of their own: flag, key, value.
    pub named: Vec<(&'static str, &'static str, String)>,
    /// Standard output is JSON.
    pub is_json: bool,
    /// Only looks.
    pub is_check: bool,
    /// A broker runs with the configuration that is looked at.
    pub is_running: bool,
}

/// What somebody wants of the program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Words, and no more.
    Words(String),
    /// A broker.
    Broker(Arguments),
}

/// Reads the command line.
///
/// # Errors
/// An option that is not known, or lacks its value; or one of `lapwing broker` that is not here.
pub(crate) fn read(given: impl Iterator<Item = OsString>) -> Result<Asked, Faults> {
    let mut arguments = Arguments::default();
    let mut given = given.map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = given.next() {
        let (flag, value) = match argument.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
            _ => (argument, None),
        };
        let mut given_value = || {
            let missing = || Fault::wrong(format!("{flag} has no value"), "", "see lapwingd --help");
            value.clone().or_else(|| given.next()).ok_or_else(missing)
        };
        match flag.as_str() {
            "-h" | "--help" => return Ok(Asked::Words(HELP.to_owned())),
            "--version" => return Ok(Asked::Words(format!("lapwingd {}\n", env!("CARGO_PKG_VERSION")))),
            "--json" => arguments.is_json = true,
            "--check" => arguments.is_check = true,
            "--running" => arguments.is_running = true,
            "--config" => arguments.config = Some(PathBuf::from(given_value()?)),
            "--set" => arguments.settings.push(given_value()?),
            "--listen" => arguments.named.push(("--listen", "broker.listen", given_value()?)),
            "--http" => arguments.named.push(("--http", "broker.http", given_value()?)),
            "--http-open" if value.is_none() => arguments.named.push(("--http-open", "http.open", "true".into())),
            "--profile" => arguments.named.push(("--profile", "broker.profile", given_value()?)),
            "--data" => arguments.named.push(("--data", "broker.data", given_value()?)),
            "--log-format" => arguments.named.push(("--log-format", "log.format", given_value()?)),
            other => return Err(strange(other).into()),
        }
    }
    Ok(Asked::Broker(arguments))
}

fn strange(flag: &str) -> Fault {
    let remedy = match flag {
        "--accept-loss-of" => "give the segment up with lapwing store repair, or start lapwing broker with this option",
        _ => "see lapwingd --help",
    };
    Fault::wrong(format!("{flag} is no option of lapwingd"), "", remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(given: &[&str]) -> Result<Asked, Faults> {
        read(given.iter().map(OsString::from))
    }

    /// Are both ways to give a value one, and does each flag say which key it sets?
    #[test]
    fn values_come_behind_a_blank_or_a_sign() {
        let Ok(Asked::Broker(found)) = asked(&[
            "--config=a.toml",
            "--set",
            "broker.shards=2",
            "--data",
            "d",
            "--listen",
            "tcp://h:1",
            "--http-open",
            "--json",
        ]) else {
            panic!("it is a broker");
        };
        assert_eq!(found.config, Some(PathBuf::from("a.toml")));
        assert_eq!(found.settings, ["broker.shards=2"]);
        assert_eq!(found.named[0], ("--data", "broker.data", "d".into()));
        assert_eq!(found.named[1], ("--listen", "broker.listen", "tcp://h:1".into()));
        assert_eq!(found.named[2], ("--http-open", "http.open", "true".into()));
        assert!(found.is_json && !found.is_check);
    }

    #[test]
    fn help_and_version_are_words() {
        assert!(matches!(asked(&["--help"]), Ok(Asked::Words(words)) if words.contains("--config FILE")));
        assert!(matches!(asked(&["--version"]), Ok(Asked::Words(words)) if words.starts_with("lapwingd ")));
    }

    /// Is what is not known a wrong usage, by its name?
    #[test]
    fn strange_flags_are_refused() {
        for (given, said) in [
            (&["--nonsense"][..], "--nonsense is no option"),
            (&["--config"][..], "--config has no value"),
            (&["--http-open=false"], "--http-open is no option"),
            (&["--accept-loss-of", "x"][..], "lapwing store repair"),
        ] {
            let faults = asked(given).unwrap_err();
            assert_eq!(faults.exit_code(), 2);
            assert!(faults.iter().any(|fault| fault.to_string().contains(said)), "{faults:?}");
        }
    }
}
