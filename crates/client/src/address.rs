//! Where a broker is: `tcp://HOST:PORT`, `mqtt://HOST:PORT`, or just `HOST:PORT`; the port may be left out (1883).

use crate::error::ClientError;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

/// The port that IANA gave to MQTT over plain TCP.
pub const PORT: u16 = 1883;

/// A broker's address, parsed but not looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Name or IP address, without the brackets of an IPv6 address.
    pub host: String,
    /// TCP port, never 0.
    pub port: u16,
}

impl Address {
    /// Parses `url`.
    ///
    /// # Errors
    /// `Invalid`: another scheme, no host, a port that is no port, or something behind it.
    pub fn parse(url: &str) -> Result<Self, ClientError> {
        let wrong = |what: &str| ClientError::Invalid(format!("url {url:?}: {what}; write tcp://HOST:PORT"));
        let authority = match url.split_once("://") {
            Some(("tcp" | "mqtt", authority)) => authority,
            Some((scheme, _)) => return Err(wrong(&format!("this client does not speak {scheme:?}"))),
            None => url,
        };
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let (host, port) = split_port(authority).ok_or_else(|| wrong("no closing bracket"))?;
        let port = match port {
            None => PORT,
            Some(text) => {
                text.parse().ok().filter(|port| *port != 0).ok_or_else(|| wrong("the port is not 1..65535"))?
            }
        };
        if host.is_empty() || host.contains(['/', '@', '?', '#', ' ']) {
            return Err(wrong("the host is missing or has something else with it"));
        }
        Ok(Self { host: host.to_owned(), port })
    }

    /// Looks the name up; at least one address.
    ///
    /// # Errors
    /// `Unreachable`: the name is not known.
    pub fn resolve(&self) -> Result<Vec<SocketAddr>, ClientError> {
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        let addresses: Vec<SocketAddr> = found.map_err(|source| self.unreachable(source))?.collect();
        if addresses.is_empty() {
            return Err(self.unreachable(std::io::Error::other("the name has no address")));
        }
        Ok(addresses)
    }

    /// The error that says this address could not be reached.
    pub fn unreachable(&self, source: std::io::Error) -> ClientError {
        ClientError::Unreachable { address: self.to_string(), source }
    }
}

/// `HOST:PORT`, `[IPV6]:PORT`, a bare IPv6 address, or a bare host; `None` when a bracket is not closed.
fn split_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return Some((host, rest.strip_prefix(':')));
    }
    match authority.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => Some((host, Some(port))),
        _ => Some((authority, None)),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(f, "tcp://[{}]:{}", self.host, self.port);
        }
        write!(f, "tcp://{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is every way of writing an address understood as the same thing?
    #[test]
    fn accepted() -> Result<(), ClientError> {
        for (url, shown) in [
            ("tcp://127.0.0.1:1884", "tcp://127.0.0.1:1884"),
            ("mqtt://broker/", "tcp://broker:1883"),
            ("broker:1", "tcp://broker:1"),
            ("broker", "tcp://broker:1883"),
            ("tcp://[::1]:1884", "tcp://[::1]:1884"),
            ("[::1]", "tcp://[::1]:1883"),
            ("::1", "tcp://[::1]:1883"),
        ] {
            assert_eq!(Address::parse(url)?.to_string(), shown);
        }
        Ok(())
    }

    /// Is what cannot be an address refused with the address in the message?
    #[test]
    fn refused() {
        for url in ["", "tcp://", "tcp://:1883", "http://x", "x:0", "x:70000", "x:y", "[::1", "tcp://a/b", "u@h:1"] {
            match Address::parse(url) {
                Err(ClientError::Invalid(message)) => assert!(message.contains(&format!("{url:?}")), "{message}"),
                other => panic!("{url}: {other:?}"),
            }
        }
    }
}
