//! Mailboxes between two threads of a node: bounded, single producer, single consumer, woken only when asleep.
//!
//! Between each ordered pair of shards lie four lanes, so that no two shards can wait for each other in a circle:
//! - *express*: moved connections, members of groups. Always emptied first.
//! - *control*: interest and answers. Emptied next; its senders are bounded by what they wait for.
//! - *publish*: messages for the target to match against its own filter tree. Emptying it may need room in `direct` lanes.
//! - *direct*: messages for named sessions (picked by a shared group). Emptying it needs no lane at all.

mod bell;
mod lane;
mod ring;

pub(crate) use bell::{Bell, Wake};
pub(crate) use lane::{Inlet, Lane, lane};
