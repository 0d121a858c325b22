//! Where HTTP is served, and its bounds; what only the package has is refused by name elsewhere.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use crate::configuration::Rest;
use crate::fault::Fault;

/// Of one listener.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub addresses: Vec<SocketAddr>,
    /// What it is called in the configuration, in lower case.
    pub host: String,
    /// Names that requests may call it by, beside those of loopback, in lower case; `*`: any.
    pub hosts: Vec<String>,
    /// Everybody who can connect may do everything, whatever guards MQTT, as long as there are no users and no rules.
    pub is_open: bool,
    /// Wrong credentials within a minute, after which nothing more is looked at.
    pub failures_max: usize,
    pub connections_max: usize,
    /// Reads of streams at one time, and those of one identity.
    pub reads_max: usize,
    pub reads_per_identity_max: usize,
    /// A read that is not taken whole within this is cut off.
    pub read_timeout: Duration,
    /// Who takes less than 256 KiB of an answer in this time, and not all that is left, is cut off.
    pub write_timeout: Duration,
    /// For a request to come whole.
    pub keep_alive: Duration,
}

impl Settings {
    /// None: HTTP is off.
    ///
    /// # Errors
    /// The address is none, or one that other machines can reach.
    pub(crate) fn of(own: &Rest) -> Result<Option<Self>, Fault> {
        let Some(address) = own.get::<Option<String>>("broker.http") else { return Ok(None) };
        let wrong = |what: String, remedy: &str| Err(Fault::wrong(what, "broker.http", remedy));
        let bare = address.trim_start_matches("http://").trim_end_matches('/');
        let found: Vec<SocketAddr> = bare.to_socket_addrs().map(Iterator::collect).unwrap_or_default();
        if found.is_empty() {
            return wrong(format!("{address} is no HOST:PORT"), "write it as in \"127.0.0.1:8080\", or \"off\"");
        }
        if !found.iter().all(|address| address.ip().is_loopback()) {
            let what = format!("{address} is reached by other machines, which lapwingd does not serve over HTTP");
            return wrong(what, "set 127.0.0.1 or [::1], or start lapwing broker");
        }
        let (hosts, time) = (own.get::<Vec<String>>("http.hosts"), |key| Duration::from_millis(own.get(key)));
        let host = bare.rsplit_once(':').map_or(bare, |(host, _)| host);
        Ok(Some(Settings {
            addresses: found,
            host: host.trim_start_matches('[').trim_end_matches(']').to_lowercase(),
            hosts: hosts.iter().map(|host| host.to_lowercase()).collect(),
            is_open: own.get("http.open"),
            failures_max: own.get("http.failures_max"),
            connections_max: own.get("http.connections_max"),
            reads_max: own.get("http.reads_max"),
            reads_per_identity_max: own.get("http.reads_per_identity_max"),
            read_timeout: time("http.read_timeout"),
            write_timeout: time("http.write_timeout"),
            keep_alive: time("http.keep_alive"),
        }))
    }
}
