//! What a user writes to name a listener: `tcp://HOST:PORT`.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use crate::error::BindError;

/// The address of a listener, as configured. Port 0 asks the kernel for a free one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// Plain TCP: `tcp://HOST:PORT`, `mqtt://HOST:PORT`, `HOST:PORT`; IPv6 hosts in brackets.
    Tcp {
        /// Host name or literal address, without brackets.
        host: String,
        /// Port; 0 means any free one.
        port: u16,
    },
}

/// The port of MQTT over TCP, taken when an address names none.
const MQTT_PORT: u16 = 1883;

impl ListenAddress {
    /// Resolves the host and returns every socket address that it stands for.
    ///
    /// # Errors
    /// `Resolve`: the host is unknown.
    pub fn resolve(&self) -> Result<Vec<SocketAddr>, BindError> {
        let ListenAddress::Tcp { host, port } = self;
        let found = (host.as_str(), *port)
            .to_socket_addrs()
            .map_err(|source| BindError::Resolve { address: self.to_string(), source })?;
        Ok(found.collect())
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ListenAddress::Tcp { host, port } = self;
        if host.contains(':') { write!(f, "tcp://[{host}]:{port}") } else { write!(f, "tcp://{host}:{port}") }
    }
}

impl FromStr for ListenAddress {
    type Err = BindError;

    fn from_str(text: &str) -> Result<Self, BindError> {
        let invalid = |what: &'static str| BindError::Address { address: text.to_owned(), what };
        let rest = match text.split_once("://") {
            Some(("tcp" | "mqtt", rest)) => rest,
            Some(_) => return Err(invalid("the scheme is not known; use tcp://HOST:PORT")),
            None => text,
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = split_host_port(rest).ok_or_else(|| invalid("write it as tcp://HOST:PORT"))?;
        if host.is_empty() {
            return Err(invalid("the host is missing; 127.0.0.1 is this machine, 0.0.0.0 every interface"));
        }
        let port = match port {
            None => MQTT_PORT,
            Some(port) => port.parse().map_err(|_| invalid("the port must be a number from 0 to 65535"))?,
        };
        Ok(ListenAddress::Tcp { host: host.to_owned(), port })
    }
}

/// Splits `host:port`, `[v6]:port`, `host`; `None` when brackets do not match.
fn split_host_port(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(bracketed) = text.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => None,
        Some((host, port)) => Some((host, Some(port))),
        None => Some((text, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which spellings are understood, and what they mean.
    #[test]
    fn spellings_are_understood() {
        for (text, expected) in [
            ("tcp://127.0.0.1:0", "tcp://127.0.0.1:0"),
            ("mqtt://localhost", "tcp://localhost:1883"),
            ("0.0.0.0:1884", "tcp://0.0.0.0:1884"),
            ("tcp://[::1]:1883/", "tcp://[::1]:1883"),
            ("[::]", "tcp://[::]:1883"),
        ] {
            assert_eq!(text.parse::<ListenAddress>().unwrap().to_string(), expected, "{text}");
        }
    }

    /// Which spellings are refused, and that the message quotes them.
    #[test]
    fn wrong_spellings_are_refused_with_the_text() {
        for text in ["udp://127.0.0.1:1", "tcp://:1883", "tcp://h:99999", "tcp://h:x", "::1", "tcp://[::1:1883"] {
            let error = text.parse::<ListenAddress>().unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
