//! Version 2: a signature, sixteen bytes in all that say how long the rest is, and the addresses in binary.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{HEADER_BYTES_MAX, Header, NoHeader};

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Signature, version and command, family, length.
const FIXED_BYTES: usize = 16;

pub(super) fn parse(bytes: &[u8]) -> Result<Option<Header>, NoHeader> {
    let known = bytes.len().min(SIGNATURE.len());
    if bytes[..known] != SIGNATURE[..known] {
        return Err(NoHeader);
    }
    let is_local = match bytes.get(12) {
        None => return Ok(None),
        Some(0x20) => true,
        Some(0x21) => false,
        Some(_) => return Err(NoHeader),
    };
    let Some([family, high, low]) = bytes[13..].first_chunk() else { return Ok(None) };
    let rest_bytes = usize::from(u16::from_be_bytes([*high, *low]));
    let whole = FIXED_BYTES + rest_bytes;
    if whole > HEADER_BYTES_MAX {
        return Err(NoHeader);
    }
    let Some(rest) = bytes.get(FIXED_BYTES..whole) else { return Ok(None) };
    let source = if is_local { None } else { source(*family, rest)? };
    Ok(Some(Header { bytes: whole, source }))
}

/// The source address at the beginning of `rest`. Datagrams do not come over a stream: their families are refused.
fn source(family: u8, rest: &[u8]) -> Result<Option<SocketAddr>, NoHeader> {
    match family {
        // Not told, or a Unix socket on the proxy's own machine: the connection speaks for itself.
        0x00 => Ok(None),
        0x31 if rest.len() >= 216 => Ok(None),
        0x11 => {
            let block: &[u8; 12] = rest.first_chunk().ok_or(NoHeader)?;
            let [a, b, c, d, _, _, _, _, high, low, _, _] = *block;
            let address = IpAddr::V4(Ipv4Addr::new(a, b, c, d));
            Ok(Some(SocketAddr::new(address, u16::from_be_bytes([high, low]))))
        }
        0x21 => {
            let block: &[u8; 36] = rest.first_chunk().ok_or(NoHeader)?;
            let from: &[u8; 16] = block.first_chunk().ok_or(NoHeader)?;
            let port = u16::from_be_bytes([block[32], block[33]]);
            Ok(Some(SocketAddr::new(IpAddr::V6(Ipv6Addr::from(*from)), port)))
        }
        _ => Err(NoHeader),
    }
}
