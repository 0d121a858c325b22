//! The first bytes of a connection: whether they can still become the CONNECT that it must begin with.
//!
//! [`crate::decode`] judges a packet when it is whole. Who has not said yet who they are must not be waited for that long:
//! here each byte is judged as it comes, and what cannot become a CONNECT any more is refused at the byte that shows it.

use crate::connect::check_beginning;
use crate::header::{FixedHeader, kind};
use crate::packet::refuse_header;
use crate::{Limits, ProtocolError, Version};

/// What the bytes of a connection say so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBytes {
    /// Nothing speaks against a CONNECT, and more must come.
    Wait,
    /// A CONNECT by its beginning, and as long as it announced: for [`crate::decode`] to read.
    Connect,
    /// No CONNECT, however they go on. The error says, as [`crate::decode`]'s does, in which version to answer, if at all.
    Refuse(ProtocolError),
}

/// Judges all `bytes` of a connection so far.
///
/// Type and flags, the announced length (`limits.packet_bytes_max`), protocol name, level and connect flags, each as
/// soon as its byte is there; so every beginning of a CONNECT that [`crate::decode`] takes waits. Allocates nothing. A
/// decision stays with more bytes, but that one more of them may tell the version to refuse in.
pub fn first_bytes(bytes: &[u8], limits: &Limits) -> FirstBytes {
    match is_whole(bytes, limits) {
        Ok(false) => FirstBytes::Wait,
        Ok(true) => FirstBytes::Connect,
        Err(error) => FirstBytes::Refuse(error),
    }
}

fn is_whole(bytes: &[u8], limits: &Limits) -> Result<bool, ProtocolError> {
    let Some(first) = bytes.first() else { return Ok(false) };
    if first >> 4 != kind::CONNECT {
        // [MQTT-3.1.0-1]; before a CONNECT there is no version to answer in.
        return Err(ProtocolError::protocol("a first packet that is no CONNECT", 0));
    }
    let header = FixedHeader::read(bytes, Version::V5, limits).map_err(|error| refuse_header(error, bytes))?;
    let Some(header) = header else { return Ok(false) };
    let there = bytes.len().min(header.packet_len);
    check_beginning(bytes.get(header.header_len..there).unwrap_or_default(), header.header_len)?;
    Ok(bytes.len() >= header.packet_len)
}
