//! Where a broker is: `tcp://HOST:PORT`, `tls://`, `ws://HOST:PORT/PATH`, `wss://`, `sn://`, or just `HOST:PORT`.

use crate::error::ClientError;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

/// The port that IANA gave to MQTT over plain TCP.
pub const PORT: u16 = 1883;

/// The path of a WebSocket whose address names none.
const PATH: &str = "/mqtt";

/// What is spoken below MQTT, or in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Nothing: TCP.
    Tcp,
    /// TLS.
    Tls,
    /// WebSocket over TCP.
    Ws,
    /// WebSocket over TLS.
    Wss,
    /// MQTT-SN over UDP, in place of MQTT.
    Sn,
}

impl Scheme {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "tcp" | "mqtt" => Some(Self::Tcp),
            "tls" | "mqtts" | "ssl" => Some(Self::Tls),
            "ws" => Some(Self::Ws),
            "wss" => Some(Self::Wss),
            "sn" | "mqtt-sn" => Some(Self::Sn),
            _ => None,
        }
    }

    /// Whether it is encrypted.
    pub fn is_secure(self) -> bool {
        matches!(self, Self::Tls | Self::Wss)
    }

    /// Whether MQTT lies in messages of a WebSocket.
    pub fn is_websocket(self) -> bool {
        matches!(self, Self::Ws | Self::Wss)
    }

    /// Whether it is MQTT-SN, which carries what MQTT 3.1.1 says.
    pub fn is_sn(self) -> bool {
        self == Self::Sn
    }

    fn port(self) -> u16 {
        match self {
            Self::Tcp => PORT,
            Self::Tls => 8883,
            Self::Ws => 80,
            Self::Wss => 443,
            Self::Sn => 1884,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Ws => "ws",
            Self::Wss => "wss",
            Self::Sn => "sn",
        }
    }
}

/// A broker's address, parsed but not looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// What is spoken below MQTT.
    pub scheme: Scheme,
    /// Name or IP address, without the brackets of an IPv6 address.
    pub host: String,
    /// Port of TCP, or of UDP for MQTT-SN; never 0.
    pub port: u16,
    /// Path of a WebSocket, `/mqtt` by default; empty for the others.
    pub path: String,
}

impl Address {
    /// `tcp://host:port`.
    pub fn tcp(host: &str, port: u16) -> Self {
        Self { scheme: Scheme::Tcp, host: host.to_owned(), port, path: String::new() }
    }

    /// Parses `url`.
    ///
    /// # Errors
    /// `Invalid`: another scheme, no host, a port that is no port, or something behind it.
    pub fn parse(url: &str) -> Result<Self, ClientError> {
        let (scheme, rest) = match url.split_once("://") {
            None => (Scheme::Tcp, url),
            Some((name, rest)) => {
                let known = Scheme::parse(name);
                (known.ok_or_else(|| wrong(url, &format!("this client does not speak {name:?}")))?, rest)
            }
        };
        let (authority, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, ""),
        };
        let (host, port) = split_port(authority).ok_or_else(|| wrong(url, "no closing bracket"))?;
        let port = match port {
            None => scheme.port(),
            Some(text) => {
                text.parse().ok().filter(|port| *port != 0).ok_or_else(|| wrong(url, "the port is not 1..65535"))?
            }
        };
        if host.is_empty() || host.contains(['@', '?', '#', ' ']) {
            return Err(wrong(url, "the host is missing or has something else with it"));
        }
        Ok(Self { scheme, host: host.to_owned(), port, path: parse_path(url, scheme, path)? })
    }

    /// This address, if nothing lies between packets and a socket: plain TCP, or MQTT-SN over UDP.
    ///
    /// # Errors
    /// `Invalid`: it is another.
    pub fn bare(self) -> Result<Self, ClientError> {
        match self.scheme {
            Scheme::Tcp | Scheme::Sn => Ok(self),
            _ => Err(ClientError::Invalid(format!("url {self}: only tcp:// and sn:// are spoken here"))),
        }
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

fn wrong(url: &str, what: &str) -> ClientError {
    let url = without_user(url);
    ClientError::Invalid(format!("url {url:?}: {what}; write tcp://HOST:PORT, or tls://, ws://, wss:// or sn://"))
}

/// `url` as errors show it: what stands before the last `@` may be a password.
pub fn without_user(url: &str) -> String {
    let Some((user, host)) = url.rsplit_once('@') else { return url.to_owned() };
    match user.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://***@{host}"),
        None => format!("***@{host}"),
    }
}

fn parse_path(url: &str, scheme: Scheme, path: &str) -> Result<String, ClientError> {
    match (scheme.is_websocket(), path) {
        (false, "" | "/") => Ok(String::new()),
        (false, _) => Err(wrong(url, "only a WebSocket has a path")),
        (true, "" | "/") => Ok(PATH.to_owned()),
        (true, path) if path.contains(['#', ' ']) => Err(wrong(url, "a space or # in the path")),
        (true, path) => Ok(path.to_owned()),
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
        let Self { scheme, host, port, path } = self;
        let scheme = scheme.name();
        if host.contains(':') {
            write!(f, "{scheme}://[{host}]:{port}{path}")
        } else {
            write!(f, "{scheme}://{host}:{port}{path}")
        }
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
            ("tls://broker", "tls://broker:8883"),
            ("mqtts://broker:1", "tls://broker:1"),
            ("ws://broker", "ws://broker:80/mqtt"),
            ("ws://broker:8083/", "ws://broker:8083/mqtt"),
            ("wss://[::1]:9/a/b?c=d", "wss://[::1]:9/a/b?c=d"),
            ("wss://broker/x", "wss://broker:443/x"),
            ("sn://broker", "sn://broker:1884"),
            ("mqtt-sn://[::1]:1", "sn://[::1]:1"),
        ] {
            assert_eq!(Address::parse(url)?.to_string(), shown);
        }
        Ok(())
    }

    /// Is what cannot be an address refused with the address in the message?
    #[test]
    fn refused() {
        for url in [
            "",
            "tcp://",
            "tcp://:1883",
            "http://x",
            "x:0",
            "x:70000",
            "x:y",
            "[::1",
            "tcp://a/b",
            "tls://a/b",
            "sn://a/b",
            "sns://a",
            "ws://:1/mqtt",
            "ws://a/b c",
        ] {
            match Address::parse(url) {
                Err(ClientError::Invalid(message)) => assert!(message.contains(&format!("{url:?}")), "{message}"),
                other => panic!("{url}: {other:?}"),
            }
        }
        for url in ["tcp://me:horse@h", "me:horse@h:1", "http://me:horse@h", "tcp://me:ho/rse@h", "tcp://me:ho@rse@h"] {
            let error = Address::parse(url).expect_err("refused").to_string();
            assert!(error.contains("***@h") && !error.contains("rse@"), "{error}");
        }
        assert!(Address::parse("wss://a").and_then(Address::bare).is_err());
        assert!(Address::parse("mqtt://a").and_then(Address::bare).is_ok());
    }
}
