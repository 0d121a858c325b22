//! A message that somebody keeps: its body, once for the data group, and who keeps it.
//!
//! ```text
//! flags u8: bit 0 origin, bit 1 retained, bit 2 consumer groups, bit 3 holder
//! published at (ms), expires at (ms, 0 = never): numbers      publisher u64, little endian
//! [origin]      [retained topic: text]      [holder u64, not 0]      number of keepers, keepers      [number of groups, groups: numbers]      frame: bytes
//! ```

use std::num::NonZeroU64;

use super::{Body, Origin};
use crate::bounds::FRAME_BYTES_MAX;
use crate::wire::{Input, List, put_bytes, put_number, put_text};
use crate::{Fault, Keeper, KeeperId};

const ORIGIN_BIT: u8 = 1;
const RETAINED_BIT: u8 = 1 << 1;
const GROUPS_BIT: u8 = 1 << 2;
const HOLDER_BIT: u8 = 1 << 3;
const ALL_BITS: u8 = (1 << 4) - 1;

/// One message in one data group. All that keep it in this group are in the one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published<'a> {
    /// A PUBLISH as MQTT 5.0 writes it; opaque here.
    pub frame: &'a [u8],
    /// When it came in, milliseconds, on the clock of the node, as all times here.
    pub published_at_ms: u64,
    /// When it expires, on the same clock; 0 = never.
    pub expires_at_ms: u64,
    /// The hash of the publisher's client id, for No Local.
    pub publisher: u64,
    /// Of a QoS 2 message of a durable session.
    pub origin: Option<Origin>,
    /// The durable sessions that keep it.
    pub keepers: List<'a, Keeper<'a>>,
    /// The durable consumer groups that keep it.
    pub groups: List<'a, KeeperId>,
    /// The topic, if this is its retained message from now on.
    pub retained: Option<&'a str>,
    /// Whose retained message it is, where identities have shares of them: the hash of the name. Opaque here.
    pub holder: Option<NonZeroU64>,
}

impl<'a> Body<'a> for Published<'a> {
    const KIND: u8 = 6;
    const WHAT: &'static str = "an entry `Published`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let bit = |condition, bit| if condition { bit } else { 0 };
        let has_groups = !self.groups.is_empty();
        out.push(
            bit(self.origin.is_some(), ORIGIN_BIT)
                | bit(self.retained.is_some(), RETAINED_BIT)
                | bit(has_groups, GROUPS_BIT)
                | bit(self.holder.is_some(), HOLDER_BIT),
        );
        put_number(self.published_at_ms, out);
        put_number(self.expires_at_ms, out);
        out.extend_from_slice(&self.publisher.to_le_bytes());
        if let Some(origin) = self.origin {
            origin.put(out);
        }
        if let Some(topic) = self.retained {
            put_text(topic, "a topic", out)?;
        }
        if let Some(holder) = self.holder {
            out.extend_from_slice(&holder.get().to_le_bytes());
        }
        self.keepers.put(out)?;
        if has_groups {
            self.groups.put(out)?;
        }
        put_bytes(self.frame, FRAME_BYTES_MAX, "a message", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let flags = input.flags(ALL_BITS)?;
        let has = |bit| flags & bit != 0;
        let published_at_ms = input.number("the time of a message is cut off")?;
        let expires_at_ms = input.number("the expiry of a message is cut off")?;
        let publisher = take_u64(input, "the publisher is cut off")?;
        let origin = if has(ORIGIN_BIT) { Some(Origin::take(input)?) } else { None };
        let retained = match has(RETAINED_BIT) {
            true => Some(input.text("a topic is cut off, too long or not UTF-8")?),
            false => None,
        };
        let holder = if has(HOLDER_BIT) { Some(take_holder(input)?) } else { None };
        let keepers = List::take(input)?;
        let groups = if has(GROUPS_BIT) { List::take(input)? } else { List::EMPTY };
        let frame = input.bytes(FRAME_BYTES_MAX, "a message is cut off or too long")?;
        Ok(Published { frame, published_at_ms, expires_at_ms, publisher, origin, keepers, groups, retained, holder })
    }
}

fn take_holder(input: &mut Input<'_>) -> Result<NonZeroU64, Fault> {
    let at = input.at();
    let what = "the holder of a retained message is cut off or 0";
    NonZeroU64::new(take_u64(input, what)?).ok_or(Fault::Malformed { at, what })
}

fn take_u64(input: &mut Input<'_>, what: &'static str) -> Result<u64, Fault> {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(input.take(8, what)?);
    Ok(u64::from_le_bytes(bytes))
}
