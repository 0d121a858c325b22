//! Packets of all types made of an input's choices: legal ones, and ones with a fault here and there.

mod body;
mod draw;
mod properties;

use arbitrary::Unstructured;
use lapwing_codec::Version;

pub(crate) use draw::Draw;

/// A packet type, with its number in the fixed header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the variants are the packets of the specification")]
pub enum Kind {
    Connect = 1,
    ConnAck = 2,
    Publish = 3,
    PubAck = 4,
    PubRec = 5,
    PubRel = 6,
    PubComp = 7,
    Subscribe = 8,
    SubAck = 9,
    Unsubscribe = 10,
    UnsubAck = 11,
    PingReq = 12,
    PingResp = 13,
    Disconnect = 14,
    Auth = 15,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 15] = [
        Kind::Connect,
        Kind::ConnAck,
        Kind::Publish,
        Kind::PubAck,
        Kind::PubRec,
        Kind::PubRel,
        Kind::PubComp,
        Kind::Subscribe,
        Kind::SubAck,
        Kind::Unsubscribe,
        Kind::UnsubAck,
        Kind::PingReq,
        Kind::PingResp,
        Kind::Disconnect,
        Kind::Auth,
    ];

    /// The name of its fuzz target and of the folder with its seeds.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// The flags that the fixed header must have; those of a PUBLISH are free.
    const fn flags(self) -> u8 {
        match self {
            Kind::PubRel | Kind::Subscribe | Kind::Unsubscribe => 0b0010,
            _ => 0,
        }
    }
}

/// A fixed header with the right length before `body`.
pub fn framed(kind: Kind, flags: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![(kind as u8) << 4 | flags & 0x0F];
    varint(body.len() as u32, &mut packet);
    packet.extend_from_slice(body);
    packet
}

/// A packet of the choices in `input`: most are legal in `version`.
pub fn packet(input: &mut Unstructured<'_>, kind: Kind, version: Version) -> Vec<u8> {
    let mut draw = Draw(input);
    let mut flags = if kind == Kind::Publish { draw.byte() & 0b1111 } else { kind.flags() };
    if kind == Kind::Publish && flags & 0b0110 == 0 {
        // DUP means nothing with QoS 0, and would have every such packet refused.
        flags &= 0b0111;
    }
    if draw.one_in(64) {
        flags = draw.byte();
    }
    let body = body::of(&mut draw, kind, flags, version);
    let mut packet = framed(kind, flags, &body);
    if draw.one_in(32) {
        let at = draw.below(packet.len());
        packet[at] ^= draw.byte();
    }
    packet
}

/// Appends a variable byte integer in its shortest form.
fn varint(mut value: u32, out: &mut Vec<u8>) {
    while value > 127 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a length of two bytes and the bytes.
fn field(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::check_kind;
    use crate::variants::Random;

    /// Is what is made of random choices accepted often enough to reach what lies behind the decoder, and refused
    /// sometimes, for each type?
    #[test]
    fn most_are_legal_and_some_are_not() {
        for kind in Kind::ALL {
            let mut random = Random::new(kind as u64);
            let (mut accepted, mut refused) = (0, 0);
            for _ in 0..2_000 {
                let mut input = random.bytes(80);
                input[0] |= 2;
                let outcome = check_kind(kind, &input);
                accepted += outcome.accepted;
                refused += usize::from(outcome.refused);
            }
            assert!(accepted > 500 && refused > 20, "{kind:?}: {accepted} accepted, {refused} refused");
        }
    }
}
