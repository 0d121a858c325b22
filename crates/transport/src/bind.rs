//! Binding what listens: at every address that a host stands for, all at one port.

use std::io;
use std::net::SocketAddr;

use crate::address::ListenAddress;
use crate::error::BindError;

/// How often a port is looked for that is free at every address of a host.
const ANY_PORT_TRIES: u32 = 16;

/// Binds every address that the host stands for and this machine has; returns the first one too, with its real port.
///
/// `bind_one`: binds one of them, and says which that was.
pub(crate) fn bind_each<T>(
    address: &ListenAddress,
    bind_one: impl Fn(SocketAddr) -> io::Result<(T, SocketAddr)>,
) -> Result<(Vec<T>, SocketAddr), BindError> {
    bind_every(&address.resolve()?, bind_one).map_err(|error| bind_error(address, error))
}

/// The same of addresses that are known.
///
/// # Errors
/// One of them cannot be bound; or this machine has none of them.
pub fn bind_every<T>(
    addresses: &[SocketAddr],
    bind_one: impl Fn(SocketAddr) -> io::Result<(T, SocketAddr)>,
) -> io::Result<(Vec<T>, SocketAddr)> {
    let is_any_port = addresses.len() > 1 && addresses.iter().all(|address| address.port() == 0);
    let mut tries = 1;
    loop {
        match bind_all(addresses, &bind_one) {
            // The port that the kernel chose for the first address may be taken at another one.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_any_port && tries < ANY_PORT_TRIES => {
                tries += 1;
            }
            bound => return bound,
        }
    }
}

/// The error with the address that was asked for.
pub(crate) fn bind_error(address: &ListenAddress, source: io::Error) -> BindError {
    BindError::Bind { address: address.to_string(), source }
}

/// Where clients find what was bound at `local`; where that is several addresses, by their name.
pub(crate) fn url_of(address: &ListenAddress, local: SocketAddr, are_several: bool, path: &str) -> String {
    let scheme = address.scheme().name();
    match address.host().filter(|_| are_several) {
        Some(host) => format!("{scheme}://{host}:{}{path}", local.port()),
        None => format!("{scheme}://{local}{path}"),
    }
}

fn bind_all<T>(
    addresses: &[SocketAddr],
    bind_one: impl Fn(SocketAddr) -> io::Result<(T, SocketAddr)>,
) -> io::Result<(Vec<T>, SocketAddr)> {
    let mut bound = Vec::new();
    let mut first: Option<SocketAddr> = None;
    let mut missing = io::Error::new(io::ErrorKind::AddrNotAvailable, "the host stands for no address");
    for address in addresses {
        // With its zone, where it has one: an address of a link means nothing without.
        let mut address = *address;
        address.set_port(first.map_or(address.port(), |first| first.port()));
        match bind_one(address) {
            Ok((socket, local)) => {
                first.get_or_insert(local);
                bound.push(socket);
            }
            Err(error) if is_not_here(&error) => missing = error,
            Err(error) => return Err(error),
        }
    }
    first.map(|first| (bound, first)).ok_or(missing)
}

/// Whether this machine has no such address: a name stands for one of IPv6 where that is switched off, for example.
fn is_not_here(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(libc::EAFNOSUPPORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is an address of a link bound in its zone, at the port that the first one got?
    #[cfg(target_os = "linux")]
    #[test]
    fn an_address_of_a_link_keeps_its_zone() {
        // The interface of loopback is the first one.
        let address: ListenAddress = "tcp://[fe80::1%lo]:1883".parse().unwrap();
        let (bound, first) = bind_each(&address, |address| Ok((address, address))).unwrap();
        assert_eq!(bound, [first]);
        assert_eq!(first.to_string(), "[fe80::1%1]:1883");
    }
}
