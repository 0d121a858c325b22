//! Where a password came from, as far as failures are counted: an address, and not a port.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lapwing_transport::PeerAddress;

/// One address. Of IPv6 the first 64 bits: whoever has one address of such a network usually has all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Source {
    V4(Ipv4Addr),
    V6([u16; 4]),
    /// A process on this machine, over a Unix socket.
    Local,
}

impl Source {
    /// That of a client: of a proxy's client, where a PROXY header names it.
    pub(crate) fn of(peer: PeerAddress) -> Self {
        peer.ip().map_or(Source::Local, Source::from)
    }

    /// Everybody on this machine, and everybody behind a proxy on it that does not say for whom it speaks, is this one.
    pub(crate) fn is_local(self) -> bool {
        match self {
            Source::V4(address) => address.is_loopback(),
            Source::V6(network) => network == [0; 4],
            Source::Local => true,
        }
    }

    /// As it is displayed, or any address of the network.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "local" {
            return Some(Source::Local);
        }
        let address: IpAddr = text.strip_suffix("/64").unwrap_or(text).parse().ok()?;
        Some(Source::from(address.to_canonical()))
    }
}

impl From<IpAddr> for Source {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Source::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Source::V6([a, b, c, d])
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::V4(address) => address.fmt(f),
            Source::V6([a, b, c, d]) => write!(f, "{}/64", Ipv6Addr::new(*a, *b, *c, *d, 0, 0, 0, 0)),
            Source::Local => f.write_str("local"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Source {
        Source::of(PeerAddress::Net(text.parse().unwrap()))
    }

    /// Is it the same from every port and, of IPv6, from every address of one network; and found again by what it shows?
    #[test]
    fn it_is_who_comes_and_not_from_which_port() {
        assert_eq!(of("192.0.2.1:1"), of("[::ffff:192.0.2.1]:2"));
        assert_ne!(of("192.0.2.1:1"), of("192.0.2.2:1"));
        assert_eq!(of("[2001:db8::1]:1"), of("[2001:db8::ff:2]:2"));
        assert_ne!(of("[2001:db8::1]:1"), of("[2001:db8:0:1::1]:1"));
        for (address, shown) in [("192.0.2.1:1", "192.0.2.1"), ("[2001:db8::1]:1", "2001:db8::/64")] {
            assert_eq!(of(address).to_string(), shown);
            assert_eq!(Source::parse(shown), Some(of(address)));
        }
        assert_eq!(Source::parse("2001:db8::77"), Some(of("[2001:db8::1]:1")));
        assert_eq!(Source::parse(&Source::Local.to_string()), Some(Source::Local));
        assert_eq!(Source::parse("bob"), None);
    }

    #[test]
    fn this_machine_is_local() {
        assert!(of("127.0.0.9:1").is_local() && of("[::1]:1").is_local() && Source::of(PeerAddress::Local).is_local());
        assert!(!of("192.0.2.1:1").is_local() && !of("[2001:db8::1]:1").is_local());
    }
}
