//! Where HTTP is served, and its bounds; what only the package has is refused by name elsewhere.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use crate::configuration::Rest;
use crate::fault::Fault;

/// Of one listener.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub addresses: Vec<SocketAddr>,
    /// Names that requests may call it by, beside those of loopback, in lower case; `*`: any.
    pub hosts: Vec<String>,
    /// Wrong credentials within a minute, after which nothing more is looked at.
    pub failures_max: usize,
    pub connections_max: usize,
    /// For a request to come whole, and for an answer to be taken.
    pub patience: Duration,
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
        let hosts: Vec<String> = own.get("http.hosts");
        Ok(Some(Settings {
            addresses: found,
            hosts: hosts.iter().map(|host| host.to_lowercase()).collect(),
            failures_max: own.get("http.failures_max"),
            connections_max: own.get("http.connections_max"),
            patience: Duration::from_millis(own.get("http.keep_alive")),
        }))
    }
}
