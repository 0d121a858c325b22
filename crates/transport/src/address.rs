//! What a user writes to name a listener: `tcp://HOST:PORT`, `wss://HOST:PORT/PATH`, `sn://HOST:PORT`, `sns://HOST:PORT`, `unix:///PATH`.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::BindError;

/// What a listener speaks below MQTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// TCP, nothing else.
    Tcp,
    /// TLS over TCP.
    Tls,
    /// WebSocket over TCP.
    Ws,
    /// WebSocket over TLS over TCP.
    Wss,
    /// A Unix socket, nothing else.
    Unix,
    /// MQTT-SN over UDP.
    Sn,
    /// MQTT-SN over DTLS over UDP.
    Sns,
}

impl Scheme {
    /// Its one name in an address.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Tcp => "tcp",
            Scheme::Tls => "tls",
            Scheme::Ws => "ws",
            Scheme::Wss => "wss",
            Scheme::Unix => "unix",
            Scheme::Sn => "sn",
            Scheme::Sns => "sns",
        }
    }

    /// Whether there is a handshake of TLS or DTLS, and so a certificate.
    pub fn has_tls(self) -> bool {
        matches!(self, Scheme::Tls | Scheme::Wss | Scheme::Sns)
    }

    /// Whether MQTT is carried by WebSocket frames.
    pub fn has_web_socket(self) -> bool {
        matches!(self, Scheme::Ws | Scheme::Wss)
    }

    /// Whether it is datagrams that come: [`crate::Datagrams`] are bound there, and no [`crate::Listener`].
    pub fn has_datagrams(self) -> bool {
        matches!(self, Scheme::Sn | Scheme::Sns)
    }

    /// The port taken when an address names none: those registered for MQTT, those of HTTP, and what gateways of MQTT-SN take.
    fn port(self) -> u16 {
        match self {
            Scheme::Tcp | Scheme::Unix => 1883,
            Scheme::Tls | Scheme::Sns => 8883,
            Scheme::Sn => 1884,
            Scheme::Ws => 80,
            Scheme::Wss => 443,
        }
    }

    fn of(text: &str) -> Option<Scheme> {
        Some(match text {
            "tcp" | "mqtt" => Scheme::Tcp,
            "tls" | "mqtts" | "ssl" => Scheme::Tls,
            "ws" => Scheme::Ws,
            "wss" => Scheme::Wss,
            "unix" => Scheme::Unix,
            "sn" | "mqtt-sn" => Scheme::Sn,
            "sns" | "mqtt-sns" => Scheme::Sns,
            _ => return None,
        })
    }
}

/// The address of a listener, as configured. Port 0 asks the kernel for a free one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenAddress {
    scheme: Scheme,
    place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Host name or literal address, without brackets; port; for WebSocket the path in the address, if one was given.
    Net { host: String, port: u16, path: Option<String> },
    /// A file of this machine.
    File(PathBuf),
}

impl ListenAddress {
    /// What is spoken there.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The path of a WebSocket address that has one: `ws://HOST:PORT/PATH`.
    pub fn web_path(&self) -> Option<&str> {
        match &self.place {
            Place::Net { path, .. } => path.as_deref(),
            Place::File(_) => None,
        }
    }

    /// The host as configured, without brackets; none for a Unix socket.
    pub fn host(&self) -> Option<&str> {
        match &self.place {
            Place::Net { host, .. } => Some(host),
            Place::File(_) => None,
        }
    }

    /// The file of a Unix socket.
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) => Some(path),
            Place::Net { .. } => None,
        }
    }

    /// Whether only this machine can connect: a Unix socket, or an address of loopback. Names other than `localhost` are
    /// not resolved: what they mean can change.
    pub fn is_local(&self) -> bool {
        match &self.place {
            Place::File(_) => true,
            Place::Net { host, .. } => {
                host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
            }
        }
    }

    /// Resolves the host and returns every socket address that it stands for, each once; none for a Unix socket.
    ///
    /// `localhost` stands for both addresses of loopback, whatever the resolver knows (RFC 6761, 6.3): clients have resolvers of
    /// their own.
    ///
    /// # Errors
    /// `Resolve`: the host is unknown.
    pub fn resolve(&self) -> Result<Vec<SocketAddr>, BindError> {
        let Place::Net { host, port, .. } = &self.place else { return Ok(Vec::new()) };
        let found = (host.as_str(), *port).to_socket_addrs();
        let mut addresses: Vec<SocketAddr> = match found {
            Ok(found) => found.collect(),
            Err(_) if is_localhost(host) => Vec::new(),
            Err(source) => return Err(BindError::Resolve { address: self.to_string(), source }),
        };
        if is_localhost(host) {
            addresses.extend([
                SocketAddr::from((Ipv4Addr::LOCALHOST, *port)),
                SocketAddr::from((Ipv6Addr::LOCALHOST, *port)),
            ]);
        }
        let mut once = Vec::with_capacity(addresses.len());
        addresses.into_iter().for_each(|address| {
            if !once.contains(&address) {
                once.push(address)
            }
        });
        Ok(once)
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.scheme.name();
        match &self.place {
            Place::File(path) => write!(f, "{scheme}://{}", path.display()),
            Place::Net { host, port, path } => {
                let path = path.as_deref().unwrap_or_default();
                if host.contains(':') {
                    write!(f, "{scheme}://[{host}]:{port}{path}")
                } else {
                    write!(f, "{scheme}://{host}:{port}{path}")
                }
            }
        }
    }
}

impl FromStr for ListenAddress {
    type Err = BindError;

    fn from_str(text: &str) -> Result<Self, BindError> {
        let invalid = |what: &'static str| BindError::Address { address: text.to_owned(), what };
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => {
                let scheme =
                    Scheme::of(scheme).ok_or_else(|| invalid("use tcp, tls, ws, wss, sn or unix before ://"))?;
                (scheme, rest)
            }
            None => (Scheme::Tcp, text),
        };
        if scheme == Scheme::Unix {
            let is_path = rest.starts_with('/') && rest.len() > 1 && !rest.ends_with('/') && !rest.contains('\0');
            let path = is_path.then(|| PathBuf::from(rest));
            let path =
                path.ok_or_else(|| invalid("write the whole path of the socket, as in unix:///run/lapwing.sock"))?;
            return Ok(ListenAddress { scheme, place: Place::File(path) });
        }
        let (authority, path) = match rest.find('/') {
            Some(at) => (&rest[..at], Some(&rest[at..])),
            None => (rest, None),
        };
        let path = path.filter(|path| *path != "/");
        if path.is_some() && !scheme.has_web_socket() {
            return Err(invalid("only ws and wss have a path"));
        }
        let (host, port) = host_and_port(authority, scheme).map_err(invalid)?;
        Ok(ListenAddress { scheme, place: Place::Net { host, port, path: path.map(str::to_owned) } })
    }
}

fn is_localhost(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
}

fn host_and_port(authority: &str, scheme: Scheme) -> Result<(String, u16), &'static str> {
    let (host, port) = split_host_port(authority).ok_or("write it as tcp://HOST:PORT")?;
    if host.is_empty() {
        return Err("the host is missing; 127.0.0.1 is this machine, 0.0.0.0 every interface");
    }
    let port = match port {
        None => scheme.port(),
        Some(port) => port.parse().map_err(|_| "the port must be a number from 0 to 65535")?,
    };
    Ok((host.to_owned(), port))
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
            ("mqtts://h", "tls://h:8883"),
            ("ws://h:8083/mqtt", "ws://h:8083/mqtt"),
            ("wss://[::]", "wss://[::]:443"),
            ("unix:///run/lapwing.sock", "unix:///run/lapwing.sock"),
            ("sn://[::1]:1885", "sn://[::1]:1885"),
            ("mqtt-sn://h", "sn://h:1884"),
            ("mqtt-sns://h", "sns://h:8883"),
        ] {
            assert_eq!(text.parse::<ListenAddress>().unwrap().to_string(), expected, "{text}");
        }
    }

    /// Which spellings are refused, and that the message quotes them.
    #[test]
    fn wrong_spellings_are_refused_with_the_text() {
        for text in [
            "udp://127.0.0.1:1",
            "tcp://:1883",
            "tcp://h:99999",
            "tcp://h:x",
            "::1",
            "tcp://[::1:1883",
            "tcp://h:1/path",
            "unix://lapwing.sock",
            "unix:///",
            "unix:///run/",
            "sn://h:1/path",
            "sns://h:1/path",
        ] {
            let error = text.parse::<ListenAddress>().unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
    }

    /// Is a name every address that it stands for, once; and localhost both of loopback?
    #[test]
    fn a_name_is_all_its_addresses() {
        let resolved = |text: &str| text.parse::<ListenAddress>().unwrap().resolve().unwrap();
        let local = resolved("tcp://LocalHost:7");
        for address in ["127.0.0.1:7", "[::1]:7"] {
            assert_eq!(local.iter().filter(|found| found.to_string() == address).count(), 1, "{local:?}");
        }
        assert_eq!(resolved("tcp://[::1]:7").len(), 1);
        assert!("unix:///x".parse::<ListenAddress>().unwrap().resolve().unwrap().is_empty());
    }

    /// Which addresses can be reached from this machine only?
    #[test]
    fn loopback_and_files_are_local() {
        let is_local = |text: &str| text.parse::<ListenAddress>().unwrap().is_local();
        for text in
            ["tcp://127.9.9.9:1", "tls://[::1]:1", "ws://localhost:1", "unix:///x", "tcp://[::ffff:127.0.0.1]:1"]
        {
            assert!(is_local(text), "{text}");
        }
        for text in ["tcp://0.0.0.0:1", "tcp://[::]:1", "tcp://broker:1", "ws://192.168.0.1:1"] {
            assert!(!is_local(text), "{text}");
        }
    }
}
