//! Where HTTP is served, and its bounds; what only the package has is refused by name elsewhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use crate::configuration::Rest;
use crate::fault::Fault;

/// Of one listener.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// One at least.
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
    /// None: HTTP is off. The address and names have their form, in lower case.
    ///
    /// # Errors
    /// The address is one that other machines can reach, or that there is not.
    pub(crate) fn of(own: &Rest) -> Result<Option<Self>, Fault> {
        let Some(address) = own.get::<Option<String>>("broker.http") else { return Ok(None) };
        let wrong = |what: String, remedy: &str| Err(Fault::wrong(what, "broker.http", remedy));
        let (host, port) = address.rsplit_once(':').unwrap_or((&address, ""));
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if !is_loopback(host) {
            let what = format!("{address} is reached by other machines, which lapwingd does not serve over HTTP");
            return wrong(what, "set 127.0.0.1 or [::1], or start lapwing broker");
        }
        let found = port.parse::<u16>().map(|port| addresses_of(host, port)).unwrap_or_default();
        if found.is_empty() {
            return wrong(format!("{address} is no address of this machine"), "set 127.0.0.1 or [::1]");
        }
        let (hosts, time) = (own.get::<Vec<String>>("http.hosts"), |key| Duration::from_millis(own.get(key)));
        Ok(Some(Settings {
            addresses: found,
            host: host.to_owned(),
            hosts,
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

    /// As it is configured; where that is one address, by that.
    pub(crate) fn url(&self) -> String {
        url_of(&self.host, self.addresses[0], self.addresses.len() > 1)
    }
}

/// Where clients find the `first` address of a host; where there are several, all of them by its name.
pub(super) fn url_of(host: &str, first: SocketAddr, are_several: bool) -> String {
    if are_several { format!("http://{host}:{}", first.port()) } else { format!("http://{first}") }
}

/// `localhost` is both of loopback, whatever the resolver knows (RFC 6761, 6.3): who tries the other one of them would meet nobody,
/// or somebody else.
fn addresses_of(host: &str, port: u16) -> Vec<SocketAddr> {
    if host == "localhost" {
        return vec![(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()];
    }
    (without_zone(host), port).to_socket_addrs().map(Iterator::collect).unwrap_or_default()
}

/// Names other than `localhost` are not looked up: what they stand for can change.
fn is_loopback(host: &str) -> bool {
    host == "localhost" || without_zone(host).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Loopback is in one zone only, and the resolver takes none for it.
fn without_zone(host: &str) -> &str {
    host.split_once('%').map_or(host, |(address, _)| address)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a literal address itself, whatever its zone, and `localhost` both of loopback, known by that name?
    #[test]
    fn what_a_host_stands_for() {
        let both: Vec<SocketAddr> = ["127.0.0.1:80", "[::1]:80"].map(|one| one.parse().expect("an address")).into();
        assert_eq!(addresses_of("localhost", 80), both);
        assert_eq!(addresses_of("127.0.0.1", 80), both[..1]);
        assert_eq!(addresses_of("::1%lo", 80), both[1..]);
        assert_eq!(url_of("localhost", both[0], true), "http://localhost:80");
        assert_eq!(url_of("::1%lo", both[1], false), "http://[::1]:80");
    }
}
