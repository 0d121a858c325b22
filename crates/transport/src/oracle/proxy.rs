//! PROXY headers: final once decided, within their bounds, and the same when somebody else writes them.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use lapwing_oracle::allocations;

use crate::proxy::{HEADER_BYTES_MAX, Header, parse};

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// Reads `input` as the first bytes of a connection from a trusted proxy.
///
/// Returns whether it begins with a header.
pub fn check_proxy(input: &[u8]) -> bool {
    let (whole, used) = allocations::count(|| parse(input));
    assert_eq!(used.calls, 0, "reading a header allocates nothing");
    let mut is_decided = false;
    for length in 0..input.len().min(HEADER_BYTES_MAX) {
        let part = parse(&input[..length]);
        assert!(part == whole || (part == Ok(None) && !is_decided), "{part:?} after {length} bytes, then {whole:?}");
        is_decided = part != Ok(None);
    }
    match whole {
        Ok(Some(header)) => check_header(input, header),
        Ok(None) => assert!(input.len() < HEADER_BYTES_MAX, "it waits for ever"),
        Err(_) => {}
    }
    matches!(whole, Ok(Some(_)))
}

fn check_header(input: &[u8], header: Header) {
    assert!(header.bytes <= input.len().min(HEADER_BYTES_MAX), "{header:?} lies behind the input");
    assert_eq!(parse(&input[..header.bytes]), Ok(Some(header)), "a header does not depend on what follows it");
    let Some(source) = header.source else { return };
    for written in [in_text(source), in_binary(source)] {
        let expected = Header { bytes: written.len(), source: Some(source) };
        assert_eq!(parse(&written), Ok(Some(expected)), "written again");
    }
}

/// Version 1, to a place that does not matter.
fn in_text(source: SocketAddr) -> Vec<u8> {
    let (ip, port) = (source.ip(), source.port());
    match ip {
        IpAddr::V4(ip) => format!("PROXY TCP4 {ip} 0.0.0.0 {port} 1\r\n"),
        IpAddr::V6(ip) => format!("PROXY TCP6 {ip} ::1 {port} 1\r\n"),
    }
    .into_bytes()
}

/// Version 2.
fn in_binary(source: SocketAddr) -> Vec<u8> {
    let (family, addresses) = match source.ip() {
        IpAddr::V4(ip) => (0x11, [&ip.octets()[..], &[0; 4]].concat()),
        IpAddr::V6(ip) => (0x21, [ip.octets(), Ipv6Addr::LOCALHOST.octets()].concat()),
    };
    let rest = [&addresses[..], &source.port().to_be_bytes(), &[0; 2]].concat();
    let length = (rest.len() as u16).to_be_bytes();
    [SIGNATURE, &[0x21, family], &length, &rest].concat()
}

/// Headers of both versions, and what looks like one.
pub fn proxy_seeds() -> Vec<Vec<u8>> {
    let sources = ["192.0.2.1:56324", "0.0.0.0:0", "[2001:db8::1]:12345", "[::ffff:192.0.2.7]:65535"];
    let sources = sources.iter().filter_map(|text| text.parse().ok());
    let mut seeds: Vec<Vec<u8>> = sources.flat_map(|source| [in_text(source), in_binary(source)]).collect();
    for text in
        ["PROXY UNKNOWN\r\n", "PROXY UNKNOWN ffff:f 1 2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n", "GET / HTTP"]
    {
        seeds.push(text.into());
    }
    for (command, family, rest) in [(0x20, 0, 0), (0x21, 0x31, 216), (0x21, 0x12, 12), (0x20, 0xff, 3)] {
        seeds.push([SIGNATURE, &[command, family, 0, rest], &vec![7; rest.into()]].concat());
    }
    // Behind the addresses, what load balancers add.
    let mut long = seeds[1].clone();
    long[14..16].copy_from_slice(&40_u16.to_be_bytes());
    long.extend([4, 0, 25].into_iter().chain([1; 25]));
    seeds.push(long);
    seeds
}
