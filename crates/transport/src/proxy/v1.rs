//! Version 1: one line of text, `PROXY TCP4 192.0.2.1 198.51.100.1 56324 1883`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Header, NoHeader};

/// What every line begins with.
const BEGIN: &[u8] = b"PROXY ";
/// The longest line there can be, its end included.
const LINE_BYTES_MAX: usize = 107;

pub(super) fn parse(bytes: &[u8]) -> Result<Option<Header>, NoHeader> {
    let known = bytes.len().min(BEGIN.len());
    if bytes[..known] != BEGIN[..known] {
        return Err(NoHeader);
    }
    let line = &bytes[..bytes.len().min(LINE_BYTES_MAX)];
    let Some(end) = line.iter().position(|byte| *byte == b'\n') else {
        return if bytes.len() < LINE_BYTES_MAX { Ok(None) } else { Err(NoHeader) };
    };
    let line = line[BEGIN.len()..end].strip_suffix(b"\r").ok_or(NoHeader)?;
    let line = std::str::from_utf8(line).map_err(|_| NoHeader)?;
    Ok(Some(Header { bytes: end + 1, source: source(line)? }))
}

/// The source in what stands between `PROXY ` and the end of the line.
fn source(line: &str) -> Result<Option<SocketAddr>, NoHeader> {
    if line == "UNKNOWN" || line.starts_with("UNKNOWN ") {
        return Ok(None);
    }
    let mut fields = line.split(' ');
    let mut next = || fields.next().ok_or(NoHeader);
    let address: fn(&str) -> Option<IpAddr> = match next()? {
        "TCP4" => |text| text.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        "TCP6" => |text| text.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        _ => return Err(NoHeader),
    };
    let (from, to) = (address(next()?), address(next()?));
    let (from_port, to_port) = (port(next()?), port(next()?));
    match (from, to, from_port, to_port, fields.next()) {
        (Some(from), Some(_), Some(port), Some(_), None) => Ok(Some(SocketAddr::new(from, port))),
        _ => Err(NoHeader),
    }
}

/// A port as the specification wants it: digits, none of them a leading zero.
fn port(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}
