//! A broker as it is installed, in a process of its own: `lapwing broker`, killed, or told to end, and started again.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::place::Place;
use crate::run::{Arrangement, PATIENCE};

/// The Python whose `lapwing` is tried; without it the one of the checkout.
const PYTHON: &str = "LAPWING_WILD_PYTHON";
/// What [`Folder`](crate::folder::Folder) has, as a file of the command.
const TABLES: &str = r##"
[broker]
durability = "disk"
pin = false
log_init_zero = false

[streams.plain]
filter = "p/#"

[groups.x]
filters = ["g/#"]

[topics."m/#"]
durability = "memory"

[hold."h/#"]
"##;
/// How long somebody who waits for a process's end waits before looking again.
const LOOK: Duration = Duration::from_millis(1);
/// So many of the last words of a broker that has ended are told.
const WORDS_MAX: usize = 20;

/// A folder, and the process that has it.
pub(crate) struct Process {
    dir: TempDir,
    python: PathBuf,
    limits: Vec<String>,
    running: Option<Child>,
    url: String,
}

impl Process {
    /// A new folder; nothing runs in it yet.
    pub(crate) fn new(arrangement: &Arrangement) -> Result<Process, String> {
        let dir = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        std::fs::write(dir.path().join("lapwing.toml"), TABLES).map_err(|error| format!("lapwing.toml: {error}"))?;
        let limits: Map<String, Value> = serde_json::from_str(&format!("{{{}}}", arrangement.all_limits()))
            .map_err(|error| format!("limits: {error}"))?;
        let limits = limits.iter().map(|(name, value)| format!("limits.{name}={value}")).collect();
        Ok(Process { dir, python: python()?, limits, running: None, url: String::new() })
    }

    fn command(&self, shards: u32) -> Result<Command, String> {
        let dir = self.dir.path();
        let words = OpenOptions::new().create(true).append(true).open(dir.join("stderr"));
        let mut command = Command::new(&self.python);
        command.args(["-m", "lapwing", "broker", "--listen", "tcp://127.0.0.1:0", "--http", "127.0.0.1:0", "--json"]);
        command.arg("--config").arg(dir.join("lapwing.toml")).arg("--data").arg(dir.join("data"));
        command.args(["--set", &format!("broker.shards={shards}")]);
        command.args(self.limits.iter().flat_map(|limit| ["--set", limit]));
        let is_ours = |name: &str| name.starts_with("LAPWING_");
        for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(|name| is_ours(name)) {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(words.map_err(|error| format!("stderr: {error}"))?);
        Ok(command)
    }

    /// Until the broker says that it is ready; its address.
    fn wait_until_ready(&mut self, said: &Receiver<Value>) -> Result<String, String> {
        let (begun, mut url) = (Instant::now(), None);
        while let Ok(event) = said.recv_timeout(PATIENCE.saturating_sub(begun.elapsed())) {
            match (event["event"].as_str(), event["protocol"].as_str()) {
                (Some("ready"), _) => return url.ok_or_else(|| "the broker is ready without a listener".into()),
                (Some("listening"), Some("mqtt")) => url = event["url"].as_str().map(str::to_owned),
                _ => {}
            }
        }
        self.check()?;
        Err(format!("the broker is not ready: {}", self.last_words()))
    }

    fn wait_until_over(&mut self) -> Result<ExitStatus, String> {
        let Some(child) = &mut self.running else { return Ok(ExitStatus::default()) };
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(|error| format!("the broker's end: {error}"))? {
                self.running = None;
                return Ok(status);
            }
            if begun.elapsed() > PATIENCE {
                return Err("in vain: the broker ends when it is told to".into());
            }
            std::thread::sleep(LOOK);
        }
    }

    fn last_words(&self) -> String {
        let words = std::fs::read_to_string(self.dir.path().join("stderr")).unwrap_or_else(|error| error.to_string());
        let lines: Vec<&str> = words.lines().collect();
        lines[lines.len().saturating_sub(WORDS_MAX)..].join("\n")
    }
}

impl Place for Process {
    fn start(&mut self, shards: u32) -> Result<(), String> {
        let started = self.command(shards)?.spawn();
        let mut child = started.map_err(|error| format!("{}: {error}", self.python.display()))?;
        let said = child.stdout.take().map(listen_to).ok_or("the broker's standard output is not ours")?;
        self.running = Some(child);
        self.url = self.wait_until_ready(&said)?;
        Ok(())
    }

    /// In order as a supervisor asks for it; otherwise as nobody should.
    fn is_killed(&self) -> bool {
        true
    }

    fn stop(&mut self, drained: bool) -> Result<(), String> {
        self.check()?;
        let Some(child) = &mut self.running else { return Ok(()) };
        if !drained {
            child.kill().map_err(|error| format!("kill: {error}"))?;
            return self.wait_until_over().map(drop);
        }
        let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        told.map_err(|error| format!("kill: {error}"))?;
        let status = self.wait_until_over()?;
        if status.success() { Ok(()) } else { Err(format!("told to end: {status}; {}", self.last_words())) }
    }

    /// Another process's disk is as it is.
    fn slow(&self, _sync_ms: u64) {}

    fn url(&self) -> String {
        self.url.clone()
    }

    fn check(&mut self) -> Result<(), String> {
        let Some(child) = &mut self.running else { return Ok(()) };
        match child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(format!("the broker has ended: {status}; {}", self.last_words())),
            Err(error) => Err(format!("the broker: {error}")),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.running {
            // It may have ended; then there is nothing to do.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Lines of JSON, as they come; read to the end, so that whoever writes them never waits.
fn listen_to(stdout: ChildStdout) -> Receiver<Value> {
    let (say, said) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // Nobody listens any more once the broker is ready.
            let _ = say.send(serde_json::from_str(&line).unwrap_or_default());
        }
    });
    said
}

fn python() -> Result<PathBuf, String> {
    if let Some(given) = std::env::var_os(PYTHON) {
        return Ok(given.into());
    }
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    match File::open(&checkout) {
        Ok(_) => Ok(checkout),
        Err(error) => Err(format!(
            "no lapwing to start: {}: {error}; run `make setup`, or name a Python that has it in {PYTHON}",
            checkout.display()
        )),
    }
}
