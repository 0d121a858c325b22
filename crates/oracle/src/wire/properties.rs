//! A property section of MQTT 5.0 from choices.

use super::draw::{Draw, NAMES};
use super::{Kind, field, varint};

/// The identifiers that may stand in a packet of this type; `is_will`: in the will of a CONNECT.
fn legal(kind: Kind, is_will: bool) -> &'static [u8] {
    match kind {
        Kind::Connect if is_will => &[0x01, 0x02, 0x03, 0x08, 0x09, 0x18, 0x26],
        Kind::Connect => &[0x11, 0x17, 0x19, 0x21, 0x22, 0x26, 0x27, 0x15, 0x16],
        Kind::ConnAck => {
            &[0x11, 0x12, 0x13, 0x15, 0x16, 0x1A, 0x1C, 0x1F, 0x21, 0x22, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A]
        }
        Kind::Publish => &[0x01, 0x02, 0x03, 0x08, 0x09, 0x23, 0x26, 0x0B],
        Kind::Subscribe => &[0x0B, 0x26],
        Kind::Unsubscribe => &[0x26],
        Kind::Disconnect => &[0x11, 0x1C, 0x1F, 0x26],
        Kind::Auth => &[0x15, 0x16, 0x1F, 0x26],
        _ => &[0x1F, 0x26],
    }
}

/// Appends a section with its length: some legal properties, in rare cases one that is not.
pub(super) fn section(draw: &mut Draw<'_, '_>, kind: Kind, is_will: bool, out: &mut Vec<u8>) {
    let mut section = Vec::new();
    let mut seen = 0_u64;
    if kind == Kind::Auth && !draw.one_in(16) {
        property(draw, 0x15, &mut section);
        seen |= 1 << 0x15;
    }
    for _ in 0..draw.below(5) {
        let legal = legal(kind, is_will);
        let id = if draw.one_in(32) { draw.byte() } else { legal[draw.below(legal.len())] };
        let is_again = id < 64 && seen & 1 << id != 0 && id != 0x26;
        if is_again && !draw.one_in(16) {
            continue;
        }
        if id == 0x16 && seen & 1 << 0x15 == 0 {
            property(draw, 0x15, &mut section);
            seen |= 1 << 0x15;
        }
        seen |= 1 << (id & 63);
        property(draw, id, &mut section);
    }
    if draw.one_in(64) {
        varint(u32::from(draw.byte()), out);
    } else {
        varint(section.len() as u32, out);
    }
    out.extend_from_slice(&section);
}

fn property(draw: &mut Draw<'_, '_>, id: u8, out: &mut Vec<u8>) {
    out.push(id);
    match id {
        0x02 | 0x11 | 0x18 => out.extend_from_slice(&interval(draw).to_be_bytes()),
        0x27 => out
            .extend_from_slice(&(if draw.one_in(8) { draw.u32() } else { 40 + draw.below(200) as u32 }).to_be_bytes()),
        0x13 => out.extend_from_slice(&draw.u16().to_be_bytes()),
        0x21..=0x23 => {
            let small = 1 + draw.below(5) as u16;
            let value = if draw.one_in(16) { draw.u16() } else { small };
            out.extend_from_slice(&value.to_be_bytes());
        }
        0x03 | 0x12 | 0x15 | 0x1A | 0x1C | 0x1F => field(&draw.text(NAMES), out),
        0x08 => field(&draw.text(NAMES), out),
        0x09 | 0x16 => field(&draw.bytes(20), out),
        0x26 => {
            field(&draw.text(NAMES), out);
            field(&draw.text(NAMES), out);
        }
        0x0B => varint(if draw.one_in(4) { draw.u32() & 0x0FFF_FFFF } else { 1 + draw.below(9) as u32 }, out),
        _ => out.push(if draw.one_in(16) { draw.byte() } else { draw.byte() & 1 }),
    }
}

/// Seconds: none, a few, forever, or anything.
fn interval(draw: &mut Draw<'_, '_>) -> u32 {
    match draw.below(8) {
        0 => 0,
        1 => u32::MAX,
        2 => draw.u32(),
        _ => draw.below(20) as u32,
    }
}
