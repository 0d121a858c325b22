//! What a session has once; what it has many of follows in records of their own.

use crate::bounds::IDENTITY_BYTES_MAX;
use crate::state::Away;
use crate::wire::{Input, Pack, put_bytes, put_number, put_text};
use crate::{Fault, KeeperId, KeptSession, Opened, WillRef};

const GONE_BIT: u8 = 1;
const WILL_BIT: u8 = 1 << 1;
const WILL_EXPIRY_BIT: u8 = 1 << 2;
const ALL_BITS: u8 = (1 << 3) - 1;

pub(super) fn put(session: &KeptSession, out: &mut Vec<u8>) -> Result<(), Fault> {
    let bit = |condition, bit| if condition { bit } else { 0 };
    let will_expiry_s = session.will.and_then(|will| will.message_expiry_s);
    out.push(
        bit(session.away.is_some(), GONE_BIT)
            | bit(session.will.is_some(), WILL_BIT)
            | bit(will_expiry_s.is_some(), WILL_EXPIRY_BIT),
    );
    session.id.put(out)?;
    put_text(&session.client_id, "a client id", out)?;
    put_bytes(&session.identity, IDENTITY_BYTES_MAX, "an identity", out)?;
    put_number(u64::from(session.expiry_s), out);
    put_number(session.opened_at_ms, out);
    if let Some(away) = session.away {
        put_number(away.at_ms, out);
        put_number(away.entry, out);
    }
    if let Some(will) = session.will {
        put_number(will.entry, out);
        put_number(u64::from(will.delay_s), out);
    }
    if let Some(expiry_s) = will_expiry_s {
        put_number(u64::from(expiry_s), out);
    }
    put_number(session.last_use, out);
    Ok(())
}

pub(super) fn take(input: &mut Input<'_>) -> Result<KeptSession, Fault> {
    let flags = input.flags(ALL_BITS)?;
    let has = |bit| flags & bit != 0;
    let id = KeeperId::take(input)?;
    let client_id = input.text("a client id is cut off, too long or not UTF-8")?;
    let identity = input.bytes(IDENTITY_BYTES_MAX, "an identity is cut off or too long")?;
    let expiry_s = input.number_u32("a session's expiry is cut off or too large")?;
    let opened_at_ms = input.number("a session's opening is cut off")?;
    let mut session = KeptSession::new(id, &Opened { client_id, identity, expiry_s, opened_at_ms, will: None });
    if has(GONE_BIT) {
        let what = "the time of a connection is cut off";
        session.away = Some(Away { at_ms: input.number(what)?, entry: input.number(what)? });
    }
    if has(WILL_BIT) {
        session.will = Some(take_will(has(WILL_EXPIRY_BIT), input)?);
    }
    session.last_use = input.number("a use number is cut off")?;
    Ok(session)
}

fn take_will(has_expiry: bool, input: &mut Input<'_>) -> Result<WillRef, Fault> {
    let what = "the place of a will is cut off or too large";
    Ok(WillRef {
        entry: input.number(what)?,
        delay_s: input.number_u32(what)?,
        message_expiry_s: if has_expiry { Some(input.number_u32(what)?) } else { None },
    })
}
