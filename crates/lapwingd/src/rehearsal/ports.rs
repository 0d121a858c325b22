//! Whether addresses can be listened on: as the configuration names them twice, and as this machine has them.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::Path;

use lapwing_transport::ListenAddress;

use crate::configuration::Configuration;
use crate::fault::Fault;

const TAKEN: &str = "stop the program that uses it, or choose another (port 0 takes any free one)";

/// A socket that holds an address while the others are tried, and the key that named it.
struct Held {
    key: String,
    address: SocketAddr,
    is_udp: bool,
    _socket: Socket,
}

impl Held {
    /// Whether no other can have both: one port, and one address or any.
    fn is_in_the_way(&self, address: SocketAddr, is_udp: bool) -> bool {
        let is_any = self.address.ip().is_unspecified() || address.ip().is_unspecified();
        self.is_udp == is_udp && self.address.port() == address.port() && (is_any || self.address.ip() == address.ip())
    }
}

/// Of either kind; what is in it is only held.
enum Socket {
    Tcp { _listener: TcpListener },
    Udp { _socket: UdpSocket },
}

/// One for each address that is named twice, or that cannot be had.
pub(super) fn faults(configuration: &Configuration) -> Vec<Fault> {
    let mut held = Vec::new();
    places(configuration).iter().filter_map(|(key, url)| fault(key, url, &mut held)).collect()
}

/// Each key with its URL.
fn places(configuration: &Configuration) -> Vec<(String, String)> {
    let node = &configuration.node;
    let plain = node.listen.iter().enumerate().map(|(number, url)| (format!("broker.listen.{number}"), url.clone()));
    let tables = node.listeners.iter().enumerate();
    let tables = tables.map(|(number, listener)| (format!("listeners.{number}.url"), listener.url.clone()));
    let http = configuration.http.iter().map(|http| ("broker.http".to_owned(), http.url()));
    plain.chain(tables).chain(http).collect()
}

fn fault(key: &str, url: &str, held: &mut Vec<Held>) -> Option<Fault> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("tcp", url));
    if scheme == "unix" {
        return of_unix(key, rest);
    }
    let is_udp = matches!(scheme, "sn" | "sns" | "mqtt-sn" | "mqtt-sns");
    let authority = rest.split('/').next().unwrap_or(rest);
    if !authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0)) {
        return None;
    }
    // As listeners find them: `localhost` is both of loopback.
    let Ok(address) = format!("tcp://{authority}").parse::<ListenAddress>() else { return None };
    let addresses = match address.resolve() {
        Ok(found) => found,
        Err(error) => return Some(Fault::wrong(format!("{key}: no such address: {error}"), url, "name another")),
    };
    let mut refused = Vec::new();
    for address in &addresses {
        match bind(*address, is_udp) {
            Ok(socket) => held.push(Held { key: key.to_owned(), address: *address, is_udp, _socket: socket }),
            Err(error) => refused.push((address, error)),
        }
    }
    let taken = refused.iter().find(|(_, error)| error.kind() == io::ErrorKind::AddrInUse);
    if let Some((address, _)) = taken {
        let twin = held.iter().find(|other| other.key != key && other.is_in_the_way(**address, is_udp));
        return Some(match twin {
            Some(twin) => {
                Fault::wrong(format!("{key} is the same port as {}", twin.key), url, "give each a port of its own")
            }
            None => Fault::wrong(format!("{key}: another process listens there"), url, TAKEN),
        });
    }
    let (_, error) = refused.first().filter(|_| refused.len() == addresses.len())?;
    let remedy = "choose an address of this machine, and a port of 1024 or above or the right to take others";
    Some(Fault::wrong(format!("{key} cannot be listened on: {error}"), url, remedy))
}

fn bind(address: SocketAddr, is_udp: bool) -> io::Result<Socket> {
    Ok(match is_udp {
        true => Socket::Udp { _socket: UdpSocket::bind(address)? },
        false => Socket::Tcp { _listener: TcpListener::bind(address)? },
    })
}

fn of_unix(key: &str, path: &str) -> Option<Fault> {
    let folder = Path::new(path).parent()?;
    (!folder.is_dir()).then(|| {
        Fault::wrong(format!("{key}: its folder does not exist"), folder.display().to_string(), "make it first")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a port that somebody has, or that is named twice, told of by its key?
    #[test]
    fn ports_that_cannot_be_had() {
        let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = taken.local_addr().expect("it has one").port();
        let told = |urls: &[String]| {
            let mut held = Vec::new();
            let each = urls.iter().enumerate().filter_map(|(n, url)| fault(&format!("k{n}"), url, &mut held));
            each.map(|fault| fault.to_string()).collect::<Vec<_>>()
        };
        let found = told(&[format!("tcp://127.0.0.1:{port}")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with(&format!("k0: another process listens there (tcp://127.0.0.1:{port})")),
            "{found:?}"
        );
        let (key, address) = ("k".to_owned(), taken.local_addr().expect("it has one"));
        let mut held = vec![Held { key, address, is_udp: false, _socket: Socket::Tcp { _listener: taken } }];
        let twin = fault("k1", &format!("ws://127.0.0.1:{port}/mqtt"), &mut held).expect("it is taken");
        assert!(twin.to_string().starts_with("k1 is the same port as k ("), "{twin}");
        held[0].is_udp = true;
        let other = fault("k1", &format!("tcp://127.0.0.1:{port}"), &mut held).expect("it is taken");
        assert!(other.to_string().contains("another process"), "a port of the other kind is another: {other}");
        assert!(told(&["tcp://127.0.0.1:0".into(), "tcp://127.0.0.1:0".into()]).is_empty());
        assert!(told(&["unix:///nowhere/at/all/socket".into()])[0].starts_with("k0: its folder does not exist"));
    }
}
