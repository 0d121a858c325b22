//! A publisher of QoS 2 messages that are in doubt.

use crate::state::{Publisher, Uses};
use crate::wire::{Input, put_number};
use crate::{Fault, KeeperId, Unsettled};

pub(super) fn put((data_group, session): Publisher, uses: &Uses, out: &mut Vec<u8>) {
    put_number(u64::from(data_group), out);
    put_number(session.0, out);
    put_number(uses.settled, out);
    put_number(uses.named_in, out);
    put_number(uses.list.len() as u64, out);
    for unsettled in &uses.list {
        put_number(unsettled.use_number, out);
        put_number(u64::from(unsettled.packet_id), out);
        put_number(unsettled.entry, out);
    }
}

pub(super) fn take(input: &mut Input<'_>) -> Result<(Publisher, Uses), Fault> {
    let what = "an origin is cut off or impossible";
    let publisher = (input.number_u16(what)?, KeeperId(input.number(what)?));
    let mut uses = Uses { settled: input.number(what)?, named_in: input.number(what)?, ..Uses::default() };
    let count = input.count(what)?;
    for _ in 0..count {
        let here = *input;
        let use_number = input.number(what)?;
        if use_number < uses.settled || uses.list.back().is_some_and(|before| before.use_number >= use_number) {
            return Err(here.fault("uses that do not ascend, or are settled"));
        }
        uses.list.push_back(Unsettled { use_number, packet_id: input.number_u16(what)?, entry: input.number(what)? });
    }
    Ok((publisher, uses))
}
