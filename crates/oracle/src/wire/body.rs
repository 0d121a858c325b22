//! What follows the fixed header, by packet type.

use lapwing_codec::Version;

use super::draw::{Draw, FILTERS, NAMES};
use super::properties::section;
use super::{Kind, field};

/// The body of a packet with these flags.
pub(super) fn of(draw: &mut Draw<'_, '_>, kind: Kind, flags: u8, version: Version) -> Vec<u8> {
    let mut out = Vec::new();
    let is_v5 = version.has_properties();
    match kind {
        Kind::Connect => connect(draw, version, &mut out),
        Kind::ConnAck => connack(draw, is_v5, &mut out),
        Kind::Publish => publish(draw, flags, is_v5, &mut out),
        Kind::PubAck | Kind::PubRec | Kind::PubRel | Kind::PubComp => acknowledgement(draw, kind, is_v5, &mut out),
        Kind::Subscribe | Kind::Unsubscribe => filters(draw, kind, is_v5, &mut out),
        Kind::SubAck | Kind::UnsubAck => answers(draw, kind, is_v5, &mut out),
        Kind::PingReq | Kind::PingResp => {}
        Kind::Disconnect | Kind::Auth if !is_v5 => {}
        Kind::Disconnect | Kind::Auth => ending(draw, kind, &mut out),
    }
    if draw.one_in(48) {
        out.extend_from_slice(&draw.bytes(4));
    }
    out
}

fn connect(draw: &mut Draw<'_, '_>, version: Version, out: &mut Vec<u8>) {
    let is_v5 = version.has_properties();
    let named = if draw.one_in(32) { Version::V31 } else { version };
    field(named.protocol_name().as_bytes(), out);
    out.push(if draw.one_in(32) { draw.byte() } else { version.level() });
    let mut flags = draw.byte() & !1;
    if flags & 0b100 == 0 {
        flags &= !0b0011_1000;
    } else if flags & 0b1_1000 == 0b1_1000 {
        flags &= !0b1_0000;
    }
    if !is_v5 && flags & 0x80 == 0 {
        flags &= !0x40;
    }
    if draw.one_in(32) {
        flags = draw.byte();
    }
    out.push(flags);
    out.extend_from_slice(&(draw.below(4) as u16).to_be_bytes());
    if is_v5 {
        section(draw, Kind::Connect, false, out);
    }
    field(&draw.text(NAMES), out);
    if flags & 0b100 != 0 {
        if is_v5 {
            section(draw, Kind::Connect, true, out);
        }
        field(&draw.text(NAMES), out);
        field(&draw.bytes(20), out);
    }
    for _ in 0..(flags & 0xC0).count_ones() {
        field(&draw.text(NAMES), out);
    }
}

fn connack(draw: &mut Draw<'_, '_>, is_v5: bool, out: &mut Vec<u8>) {
    let reason = if draw.one_in(4) { reason(draw) } else { 0 };
    let reason = if is_v5 { reason } else { reason % 7 };
    out.push(u8::from(reason == 0 && draw.one_in(2)));
    out.push(reason);
    if is_v5 {
        section(draw, Kind::ConnAck, false, out);
    }
}

fn publish(draw: &mut Draw<'_, '_>, flags: u8, is_v5: bool, out: &mut Vec<u8>) {
    let name = draw.text(NAMES);
    field(&name, out);
    if flags & 0b110 != 0 {
        packet_id(draw, out);
    }
    if is_v5 {
        section(draw, Kind::Publish, false, out);
    }
    out.extend_from_slice(&draw.bytes(60));
}

fn acknowledgement(draw: &mut Draw<'_, '_>, kind: Kind, is_v5: bool, out: &mut Vec<u8>) {
    packet_id(draw, out);
    if !is_v5 || draw.one_in(3) {
        return;
    }
    let legal: &[u8] = match kind {
        Kind::PubAck | Kind::PubRec => &[0, 0, 0, 0, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99],
        _ => &[0, 0, 0, 0x92],
    };
    out.push(if draw.one_in(32) { draw.byte() } else { legal[draw.below(legal.len())] });
    if draw.one_in(4) {
        section(draw, kind, false, out);
    }
}

fn filters(draw: &mut Draw<'_, '_>, kind: Kind, is_v5: bool, out: &mut Vec<u8>) {
    packet_id(draw, out);
    if is_v5 {
        section(draw, kind, false, out);
    }
    let least = usize::from(!draw.one_in(64));
    for _ in 0..least + draw.below(4) {
        let filter = draw.text(FILTERS);
        field(&filter, out);
        if kind == Kind::Subscribe {
            out.push(options(draw, is_v5, filter.starts_with(b"$share/")));
        }
    }
}

fn options(draw: &mut Draw<'_, '_>, is_v5: bool, is_shared: bool) -> u8 {
    if draw.one_in(64) {
        return draw.byte();
    }
    let qos = draw.below(3) as u8;
    if !is_v5 {
        return qos;
    }
    let no_local = if is_shared { 0 } else { draw.byte() & 0b100 };
    qos | no_local | draw.byte() & 0b1000 | (draw.below(3) as u8) << 4
}

fn answers(draw: &mut Draw<'_, '_>, kind: Kind, is_v5: bool, out: &mut Vec<u8>) {
    packet_id(draw, out);
    if is_v5 {
        section(draw, kind, false, out);
    } else if kind == Kind::UnsubAck {
        return;
    }
    let legal: &[u8] = match kind {
        Kind::UnsubAck => &[0, 0x11, 0x80, 0x83, 0x87, 0x8F, 0x91],
        _ if is_v5 => &[0, 1, 2, 0x80, 0x83, 0x87, 0x8F, 0x91, 0x97, 0x9E, 0xA1, 0xA2],
        _ => &[0, 1, 2, 0x80],
    };
    for _ in 0..=draw.below(3) {
        out.push(if draw.one_in(64) { draw.byte() } else { legal[draw.below(legal.len())] });
    }
}

fn ending(draw: &mut Draw<'_, '_>, kind: Kind, out: &mut Vec<u8>) {
    if draw.one_in(4) {
        return;
    }
    let legal: &[u8] = match kind {
        Kind::Auth => &[0x18, 0x19, 0],
        _ => &[0, 0, 4, 0x80, 0x81, 0x82, 0x8B, 0x8D, 0x93, 0x96],
    };
    out.push(if draw.one_in(32) { draw.byte() } else { legal[draw.below(legal.len())] });
    if kind == Kind::Auth || draw.one_in(2) {
        section(draw, kind, false, out);
    }
}

/// One of a few, so that a packet meets what an earlier one left; in rare cases any, 0 included.
fn packet_id(draw: &mut Draw<'_, '_>, out: &mut Vec<u8>) {
    let id = if draw.one_in(64) { draw.u16() } else { 1 + draw.below(6) as u16 };
    out.extend_from_slice(&id.to_be_bytes());
}

fn reason(draw: &mut Draw<'_, '_>) -> u8 {
    const REFUSALS: [u8; 8] = [0x80, 0x82, 0x84, 0x85, 0x86, 0x87, 0x95, 0x9F];
    if draw.one_in(8) { draw.byte() } else { REFUSALS[draw.below(REFUSALS.len())] }
}
