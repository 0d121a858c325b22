//! Ranges of addresses, as in `10.0.0.0/8`.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// All addresses that share the first bits of one: CIDR notation. A single address is a range too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// Whether `address` lies in this range; an IPv4 address may be written as IPv6 (`::ffff:10.0.0.1`).
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                same_bits(u128::from(own.to_bits()) << 96, u128::from(other.to_bits()) << 96, self.bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => same_bits(own.to_bits(), other.to_bits(), self.bits),
            _ => false,
        }
    }

    /// The first and the last address in it.
    fn ends(&self) -> (u128, u128) {
        let (address, rest) = match self.address {
            IpAddr::V4(own) => (u128::from(own.to_bits()), u128::from(u32::MAX) >> self.bits),
            IpAddr::V6(own) => (own.to_bits(), u128::MAX.checked_shr(u32::from(self.bits)).unwrap_or(0)),
        };
        (address & !rest, address | rest)
    }
}

/// Whether all addresses of IPv4, or all of IPv6, lie in these ranges together.
pub fn are_everybody(networks: &[Network]) -> bool {
    let (v4, v6): (Vec<Network>, Vec<Network>) = networks.iter().copied().partition(|own| own.address.is_ipv4());
    leave_nothing_out(&v4, u32::MAX.into()) || leave_nothing_out(&v6, u128::MAX)
}

fn leave_nothing_out(networks: &[Network], most: u128) -> bool {
    let mut ends: Vec<_> = networks.iter().map(Network::ends).collect();
    ends.sort_unstable();
    // The first address that none of those looked at has.
    let mut free = 0;
    for (first, last) in ends {
        if first > free {
            return false;
        }
        if last == most {
            return true;
        }
        free = free.max(last + 1);
    }
    false
}

/// Whether the first `bits` bits are equal.
fn same_bits(one: u128, other: u128, bits: u8) -> bool {
    // A shift by all 128 bits is not defined; nothing is compared then.
    bits == 0 || (one ^ other) >> (128 - u32::from(bits)) == 0
}

/// What counts as one source of connections: an IPv4 address, or the /64 that one IPv6 customer gets.
pub(crate) fn source_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

impl FromStr for Network {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| "it is no IP address, nor a range such as 10.0.0.0/8")?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= most).ok_or("its length is out of range")?,
        };
        // As the addresses that are compared with it: one of IPv4 that is written as IPv6 is one of IPv4.
        match (address, address.to_canonical()) {
            (IpAddr::V6(_), IpAddr::V4(own)) if bits >= 96 => Ok(Network { address: own.into(), bits: bits - 96 }),
            _ => Ok(Network { address, bits }),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which addresses lie in which ranges?
    #[test]
    fn ranges_contain_what_they_say() {
        for (range, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
            ("0.0.0.0/0", "203.0.113.9", "::1"),
            ("::/0", "2001:db8::1", "10.0.0.1"),
            ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
            ("127.0.0.0/8", "::ffff:127.0.0.1", "::ffff:128.0.0.1"),
            ("::ffff:10.0.0.0/104", "10.255.0.1", "11.0.0.1"),
            ("::ffff:10.1.2.3", "::ffff:10.1.2.3", "10.1.2.4"),
        ] {
            let network: Network = range.parse().unwrap();
            assert!(network.contains(inside.parse().unwrap()), "{range} {inside}");
            assert!(!network.contains(outside.parse().unwrap()), "{range} {outside}");
        }
    }

    /// Are all addresses of a family found also where ranges meet or overlap, and not where one address is missing?
    #[test]
    fn everybody_is_in_ranges_that_leave_nothing_out() {
        for (ranges, are_all) in [
            (&["0.0.0.0/0"][..], true),
            (&["1.2.3.4/0"], true),
            (&["10.0.0.0/8", "::/0"], true),
            (&["128.0.0.0/1", "10.0.0.0/8", "0.0.0.0/1"], true),
            (&["0.0.0.0/2", "0.0.0.0/1", "128.0.0.0/2", "192.0.0.0/2"], true),
            (&["::/1", "8000::/1"], true),
            (&["0.0.0.0/1", "::/1"], false),
            (&["0.0.0.0/2", "128.0.0.0/1"], false),
            (&["0.0.0.0/1", "128.0.0.0/2"], false),
            (&["255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], false),
            (&["10.1.2.3"], false),
            (&[], false),
        ] {
            let networks: Vec<Network> = ranges.iter().map(|range| range.parse().unwrap()).collect();
            assert_eq!(are_everybody(&networks), are_all, "{ranges:?}");
        }
    }

    /// Is what is no range refused?
    #[test]
    fn wrong_ranges_are_refused() {
        for text in ["", "10.0.0/8", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "host/8", "10.0.0.0/"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }

    /// Are two addresses of one IPv6 customer one source, and two IPv4 addresses two?
    #[test]
    fn a_source_is_an_address_or_a_64() {
        let source = |text: &str| source_of(text.parse().unwrap());
        assert_eq!(source("2001:db8::1"), source("2001:db8::ffff:1"));
        assert_ne!(source("2001:db8::1"), source("2001:db8:0:1::1"));
        assert_eq!(source("::ffff:10.0.0.1"), source("10.0.0.1"));
        assert_ne!(source("10.0.0.1"), source("10.0.0.2"));
    }
}
