//! `lapwingd` as a process: what it prints, who can connect, what signals do to it, and what it leaves on disk.

use std::fs::write;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use tempfile::{TempDir, tempdir};

const PROGRAM: &str = env!("CARGO_BIN_EXE_lapwingd");
/// CONNECT of 3.1.1, clean session, client id `a`.
const CONNECT: &[u8] = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a";
const CONNACK: &[u8] = b"\x20\x02\x00\x00";

/// A folder with a configuration that listens at a port of the system's choice.
fn folder(more: &str) -> TempDir {
    let folder = tempdir().expect("a folder");
    let text = format!(
        "[broker]\nlisten = \"tcp://127.0.0.1:0\"\nshards = 1\npin = false\ndata = \"data\"\nhttp = \"off\"\n{more}"
    );
    write(folder.path().join("lapwing.toml"), text).expect("written");
    folder
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .env_clear()
        .current_dir(folder)
        .args(["--config", "lapwing.toml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A broker that clients can connect to.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    address: String,
}

impl Running {
    fn start(folder: &Path) -> Self {
        let mut child = program(folder).spawn().expect("it runs");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lines = [String::new(), String::new()];
        for line in &mut lines {
            out.read_line(line).expect("a line");
        }
        assert_eq!(lines[1], "ready\n", "{lines:?}");
        let address = lines[0].trim().strip_prefix("mqtt tcp://").expect("an address").to_owned();
        Running { child, out, address }
    }

    /// A client: its bytes, and what comes back of so many.
    fn exchange(&self, sent: &[u8], bytes: usize) -> (TcpStream, Vec<u8>) {
        let mut client = TcpStream::connect(&self.address).expect("it listens");
        client.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
        client.write_all(sent).expect("sent");
        let mut answer = vec![0; bytes];
        client.read_exact(&mut answer).expect("an answer");
        (client, answer)
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Its exit code, and what it said on standard error.
    fn end(mut self) -> (Option<i32>, String) {
        self.signal("-TERM");
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("its end");
        let output = self.child.wait_with_output().expect("it ends");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Does a client connect, is SIGTERM an end in order, and is a retained message there for the next start?
#[test]
fn a_broker_from_its_start_to_its_end_and_again() {
    let folder = folder("");
    let broker = Running::start(folder.path());
    // PUBLISH retained at QoS 1, packet id 5, of `v` to `t`.
    let (_client, answer) = broker.exchange(&[CONNECT, b"\x33\x06\x00\x01t\x00\x05v"].concat(), 8);
    assert_eq!(answer, [CONNACK, b"\x40\x02\x00\x05"].concat());
    let (code, said) = broker.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("draining; a second signal stops at once"), "{said}");

    let broker = Running::start(folder.path());
    // SUBSCRIBE to `t` at QoS 0: SUBACK, and the message.
    let (_client, answer) = broker.exchange(&[CONNECT, b"\x82\x06\x00\x01\x00\x01t\x00"].concat(), 15);
    assert_eq!(answer, [CONNACK, b"\x90\x03\x00\x01\x00", b"\x31\x04\x00\x01tv"].concat());
    assert_eq!(broker.end().0, Some(0));
}

/// Is health open, are figures, once there are rules, for those who may, and is a bent name none of ours?
#[test]
fn health_and_figures_over_http() {
    let folder = folder("[[rules]]\nidentity = \"*\"\nmay = [\"observe\"]\n");
    let mut child = program(folder.path()).args(["--http", "127.0.0.1:0", "--json"]).spawn().expect("it runs");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut said = String::new();
    while !said.contains("ready") {
        out.read_line(&mut said).expect("a line");
    }
    let address = said.split("http://").nth(1).and_then(|rest| rest.split('"').next()).expect("an address");
    let ask = |path: &str, host: &str| {
        let mut client = TcpStream::connect(address).expect("it listens");
        client.write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).expect("sent");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("an answer");
        answer
    };
    assert!(ask("/healthz", address).ends_with("{\"status\":\"alive\"}"));
    assert!(ask("/readyz", address).starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(ask("/metrics", address).starts_with("HTTP/1.1 401 "));
    assert!(ask("/healthz", "evil.example").starts_with("HTTP/1.1 421 "));
    assert!(ask("/v1/streams", address).starts_with("HTTP/1.1 401 "));
    assert!(ask("/v1/groups", address).starts_with("HTTP/1.1 404 "), "that only the package has");
    let file = folder.path().join("lapwing.toml");
    let text = std::fs::read_to_string(&file).expect("it is there");
    write(&file, text.replace("identity = \"*\"", "identity = \"anonymous\"")).expect("written");
    let hup = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().expect("kill runs");
    assert!(hup.success());
    let begun = std::time::Instant::now();
    let metrics = loop {
        let answer = ask("/metrics", address);
        if answer.starts_with("HTTP/1.1 200 ") {
            break answer;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{answer}");
    };
    assert!(metrics.contains("\nlapwing_shards 1\n"), "{metrics}");
    let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    assert!(ended.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// A broker with HTTP, and the address of that.
fn with_http(folder: &Path) -> (Child, String) {
    let mut child = program(folder).args(["--http", "127.0.0.1:0"]).spawn().expect("it runs");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut said = String::new();
    while !said.contains("ready") {
        out.read_line(&mut said).expect("a line");
    }
    let address = said.lines().find_map(|line| line.strip_prefix("http http://")).expect("an address");
    (child, address.to_owned())
}

fn silent(address: &str) -> TcpStream {
    let connection = TcpStream::connect(address).expect("it listens");
    connection.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
    connection
}

fn ask(path: &str, address: &str) -> std::io::Result<String> {
    let mut client = TcpStream::connect(address)?;
    client.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    client.read_to_string(&mut answer).map(|_| answer)
}

/// Its lines on standard error.
fn end(child: Child) -> String {
    let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    assert!(ended.success());
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Do those that ask for nothing keep nobody out who asks: the oldest is closed, told so and counted?
#[test]
fn who_holds_every_place_is_displaced() {
    let folder = folder("[http]\nconnections_max = 2\nkeep_alive = \"60s\"\n");
    let (child, address) = with_http(folder.path());
    let mut silent = [(); 3].map(|()| silent(&address));
    silent[2].write_all(b"GET /healthz HTTP/1.1\r\nHost:").expect("sent");
    let mut answer = String::new();
    silent[0].read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("\r\nretry-after: 1\r\n"), "{answer}");
    assert!(
        answer.contains("\"code\":\"too_many_connections\"") && answer.contains("\"connections_max\":2"),
        "{answer}"
    );
    assert!(ask("/healthz", &address).expect("an answer").ends_with("{\"status\":\"alive\"}"));
    let mut closed = Vec::new();
    silent[1].read_to_end(&mut closed).expect("its end");
    assert!(closed.starts_with(b"HTTP/1.1 503 "));
    let metrics = ask("/metrics", &address).expect("an answer");
    let refused = metrics.split("\nlapwing_http_connections_refused_total ").nth(1).expect("it is counted");
    // The third may have gone for this, where the former answer was still on its way out.
    assert!(refused.starts_with(['2', '3']), "{refused}");
    let lines = end(child);
    assert!(lines.contains("HTTP ends a connection of 127.0.0.1: http.connections_max are open"), "{lines}");
}

/// Is who says nothing gone in time, and counted?
#[test]
fn who_says_nothing_has_a_clock() {
    let folder = folder("[http]\nkeep_alive = \"1s\"\n");
    let (child, address) = with_http(folder.path());
    let mut silent = silent(&address);
    silent.write_all(b"GET /healthz HTTP/1.1\r\nHost:").expect("sent");
    assert_eq!(silent.read(&mut [0]).expect("its end"), 0);
    let metrics = ask("/metrics", &address).expect("an answer");
    assert!(metrics.contains("\nlapwing_http_connections_late_total 1\n"), "{metrics}");
    let lines = end(child);
    assert!(lines.contains("no whole request within http.keep_alive"), "{lines}");
}

/// Are rules read again at SIGHUP, and does a file that is wrong leave those in force?
#[test]
fn a_reload_is_taken_or_left() {
    let folder = folder("");
    let file = folder.path().join("lapwing.toml");
    let mut broker = Running::start(folder.path());
    let mut said = BufReader::new(broker.child.stderr.take().expect("a pipe"));
    let mut next = |word: &str| {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert!(said.read_line(&mut line).expect("a line") > 0, "no line with {word}");
        }
        line
    };
    let before = std::fs::read_to_string(&file).expect("it is there");
    write(&file, format!("{before}[[rules]]\nidentity = \"anonymous\"\nmay = [\"publish\"]\ntopics = [\"a/#\"]\n"))
        .expect("written");
    broker.signal("-HUP");
    assert!(next("SIGHUP").contains("no users file, 0 rules before, no users file, 1 rule now"));
    // SUBSCRIBE: nobody may any more.
    let (_client, answer) = broker.exchange(&[CONNECT, b"\x82\x06\x00\x01\x00\x01t\x00"].concat(), 9);
    assert_eq!(answer, [CONNACK, b"\x90\x03\x00\x01\x80"].concat());
    write(&file, before).expect("written");
    broker.signal("-HUP");
    assert!(next("SIGHUP").contains("auth.no_rules"));
    broker.signal("-TERM");
    assert!(next("draining").contains("draining"));
    assert_eq!(broker.child.wait().expect("it ends").code(), Some(0));
}

fn refused(folder: &Path, more: &[&str]) -> Output {
    program(folder).args(more).output().expect("it runs")
}

/// Do exit codes say what `lapwing broker`'s say?
#[test]
fn exit_codes() {
    let folder = folder("[hooks]\nuse = \"judge:Judge\"\n");
    let output = refused(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("error: hooks.use is not in lapwingd (lapwing.toml:8)"), "{said}");

    let off = ["--set", "hooks.use=off"];
    write(folder.path().join("file"), "x").expect("written");
    let output = refused(folder.path(), &[&off[..], &["--data", "file"]].concat());
    assert_eq!(output.status.code(), Some(2), "what is no folder never will be one");

    let output = refused(folder.path(), &[&off[..], &["--check", "--json"]].concat());
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"the configuration is right\n"[..]));

    let beyond = ["--set", "limits.memory_high_bytes=4096TiB", "--check"];
    let output = refused(folder.path(), &[&off[..], &beyond].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("limits.memory_high_bytes = 4096TiB is above the "), "{said}");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("tcp://{}", taken.local_addr().expect("it has one"));
    let check = ["--check", "--listen", &url];
    let output = refused(folder.path(), &[&off[..], &check].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && said.contains("broker.listen.0: another process listens there"),
        "{said}"
    );
    assert!(refused(folder.path(), &[&off[..], &check, &["--running"]].concat()).status.success());

    let output = refused(folder.path(), &[&off[..], &["--listen", &url, "--log-format", "json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.lines().any(|line| line.starts_with("{\"at\":") && line.contains("\"level\":\"error\"")), "{said}");
}
