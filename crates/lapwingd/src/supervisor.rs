//! What systemd is told of a service of `Type=notify`, over a datagram socket that it names in the environment. Without such
//! a socket nothing is sent, and nothing is wrong. Source: sd_notify(3).

use std::env::var;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use crate::system;

/// Signs of life in the time that the watchdog waits for one.
const SIGNS: u32 = 3;
/// An idle thread turns once a second; a busy machine has it wait.
const TURN: Duration = Duration::from_secs(5);

/// Who started this process, if that one wants to hear.
#[derive(Debug)]
pub(crate) struct Supervisor {
    address: Option<SocketAddr>,
    watchdog: Option<Duration>,
    alive_at: Option<Instant>,
}

impl Supervisor {
    pub(crate) fn of_environment() -> Self {
        let address = var("NOTIFY_SOCKET").ok().and_then(|name| address(&name));
        let is_meant = var("WATCHDOG_PID").map_or(true, |pid| pid == std::process::id().to_string());
        let waits = var("WATCHDOG_USEC").ok().and_then(|text| text.parse().ok()).map(Duration::from_micros);
        Supervisor { watchdog: waits.filter(|_| is_meant && address.is_some()), address, alive_at: None }
    }

    /// Within so long every thread has to have gone on, for a sign of life.
    pub(crate) fn turn(&self) -> Duration {
        self.watchdog.map_or(TURN, |watchdog| (watchdog / SIGNS).max(TURN))
    }

    /// It is on its way; a start that reads much must not be taken for one that hangs.
    pub(crate) fn starting(&self, status: &str) {
        self.tell(&format!("STATUS={status}\nEXTEND_TIMEOUT_USEC=60000000"));
    }

    /// Clients can connect, or again after a reload.
    pub(crate) fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nSTATUS={status}"));
    }

    pub(crate) fn reloading(&self) {
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={}", system::monotonic_us()));
    }

    /// Whoever calls this has just found all well; it is passed on as often as the watchdog needs.
    pub(crate) fn alive(&mut self) {
        let Some(watchdog) = self.watchdog else { return };
        if self.alive_at.is_none_or(|at| at.elapsed() >= watchdog / SIGNS) {
            self.alive_at = Some(Instant::now());
            self.tell("WATCHDOG=1");
        }
    }

    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=draining");
    }

    fn tell(&self, words: &str) {
        let Some(address) = &self.address else { return };
        let sent = UnixDatagram::unbound().and_then(|socket| socket.send_to_addr(words.as_bytes(), address));
        // A supervisor that does not listen has its own way to find out; the broker goes on.
        drop(sent);
    }
}

/// An abstract socket is written with an @.
fn address(name: &str) -> Option<SocketAddr> {
    #[cfg(target_os = "linux")]
    if let Some(abstract_name) = name.strip_prefix('@') {
        use std::os::linux::net::SocketAddrExt;
        return SocketAddr::from_abstract_name(abstract_name).ok();
    }
    SocketAddr::from_pathname(name).ok()
}
