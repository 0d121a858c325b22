//! The names under which pages of the same host may connect. A page that bends its own name to this machine (DNS
//! rebinding) is of one host with us in its browser's eyes; where whoever connects is let in, it must not be.

use std::net::IpAddr;

use crate::address::ListenAddress;
use crate::settings::WebSettings;

/// The names of one listener.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    /// As configured, in the address too; `*` takes every one.
    names: Vec<String>,
    reach: Reach,
}

/// Who reaches the listener, and so which names beside those say nothing bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Who has neither credentials nor a page of the certificate's name gets nowhere: every name.
    Guarded,
    /// This machine only: names of loopback.
    Local,
    /// Everybody, and is let in: addresses, for only a name can be bent.
    Open,
}

impl Hosts {
    pub(crate) fn new(settings: &WebSettings, address: &ListenAddress) -> Self {
        let reach = match address.is_local() {
            true => Reach::Local,
            // The certificate that a browser asks for has no name of a foreign page's.
            false if settings.is_open && !address.scheme().has_tls() => Reach::Open,
            false => Reach::Guarded,
        };
        let own = address.host().filter(|host| host.parse::<IpAddr>().is_err()).map(str::to_owned);
        Hosts { names: settings.hosts.iter().cloned().chain(own).collect(), reach }
    }

    /// Whether `host`, without its port, is one of them.
    pub(super) fn include(&self, host: &str) -> bool {
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let is_it = |name: &String| match address {
            Some(address) => name.parse() == Ok(address),
            None => name.eq_ignore_ascii_case(host),
        };
        if self.names.iter().any(|name| name == "*" || is_it(name)) {
            return true;
        }
        let is_loopback = is_loopback(host);
        match self.reach {
            Reach::Guarded => true,
            Reach::Local => is_loopback,
            // Browsers take the unspecified address for another machine, and systems for this one.
            Reach::Open => is_loopback || address.is_some_and(|ip| !ip.to_canonical().is_unspecified()),
        }
    }
}

/// Whether a host, without its port, is this machine for whoever says it: `localhost`, 127.0.0.0/8, `[::1]`.
pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(url: &str, names: &[&str], is_open: bool) -> Hosts {
        let hosts = names.iter().map(|name| (*name).to_owned()).collect();
        let settings = WebSettings { path: "/mqtt".into(), origins: Vec::new(), hosts, is_open };
        Hosts::new(&settings, &url.parse().unwrap())
    }

    /// Which names of a listener are its own: wherever a page could bend one, only those that it was told of?
    #[test]
    fn a_name_that_could_be_bent_is_taken_where_it_is_known() {
        for (url, names, is_open, host, expected) in [
            ("ws://0.0.0.0:80", &[][..], true, "evil.example", false),
            ("ws://0.0.0.0:80", &[], true, "192.0.2.7", true),
            ("ws://0.0.0.0:80", &[], true, "[2001:db8::7]", true),
            ("ws://0.0.0.0:80", &[], true, "0.0.0.0", false),
            ("ws://0.0.0.0:80", &[], true, "[::]", false),
            ("ws://0.0.0.0:80", &[], true, "192.0.2.7.evil.example", false),
            ("ws://0.0.0.0:80", &[], true, "localhost", true),
            ("ws://0.0.0.0:80", &["broker.example"], true, "BROKER.example", true),
            ("ws://0.0.0.0:80", &["broker.example"], true, "a.broker.example", false),
            ("ws://0.0.0.0:80", &["*"], true, "evil.example", true),
            ("ws://broker.example:80", &[], true, "broker.example", true),
            ("ws://broker.example:80", &[], true, "evil.example", false),
            ("ws://0.0.0.0:80", &[], false, "evil.example", true),
            ("wss://0.0.0.0:443", &[], true, "evil.example", true),
            ("ws://127.0.0.1:80", &[], true, "evil.example", false),
            ("ws://127.0.0.1:80", &[], false, "192.0.2.7", false),
            ("ws://127.0.0.1:80", &["dash.local"], true, "dash.local", true),
            ("ws://localhost:80", &[], true, "[::1]", true),
            ("ws://[::1]:80", &["2001:db8::7"], true, "[2001:db8:0::7]", true),
        ] {
            assert_eq!(hosts(url, names, is_open).include(host), expected, "{host} at {url} {names:?} {is_open}");
        }
    }
}
