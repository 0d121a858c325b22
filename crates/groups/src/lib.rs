//! One consumer group: its queue, its members, and which message is whose. Events in, actions out.
//!
//! Rules of this room:
//! - No I/O, no clock, no thread. Time is `now_us`, microseconds of one monotonic clock of the process. Members may live on
//!   other shards: whatever is said of them comes late, and carries the [`Epoch`] of the connection that it is about.
//! - A message is in the queue or with exactly one member, from `publish` to its one end: acknowledged, sent at QoS 0,
//!   refused, dropped under a [`DropReason`], or a dead letter. [`Counters`] add up.
//! - A message is bound to a member only when dispatch names one that may have it now. Who may not have more gets none in
//!   advance, so nothing waits behind a slow member that another could do.
//! - Critical goes before bulk. In a lane the order is that of `publish`; what comes back from a member comes back to its
//!   old rank. Under `key-ordered` a message waits while its key is with a member that cannot have it; others pass.
//! - What has left for a member comes back only by the word of that member's shard: a kick does not move a message, the
//!   `lost` that answers it does. So nobody gets what another one still has.
//! - QoS 1 moves when a connection is lost. QoS 2 moves as long as it was not written; once written it is its session's and
//!   ends with it. What ended with 0x80 or above is not tried elsewhere.
//! - A kept group's messages have a number, [`Facts::entry`], under which the caller logs them. Each end is told by it once,
//!   [`Group::take_ended`]: what was logged and is not told comes back with [`Group::restore`].
//! - QoS 2 that is logged waits in the queue until its entry is committed: a member's log may name that entry. What comes behind
//!   it of its key waits with it; others pass.
//! - The queue is bounded in messages and bytes. What comes back from members is let in beyond that: it is bounded by what
//!   members may have, and older than all that waits.
//!
//! # How the node drives it
//!
//! ```text
//! the owner shard of the group
//!   what it had when the process ended       restore(message, facts, now)
//!   PUBLISH that its filter matches          publish(message, facts, now)     while takes_messages(); true: log it
//!   what it logged is committed              committed(through, now)
//!   `Away`, acks, ... from a member's shard  as below; then for action in take_actions()
//!     Send(delivery)       to the shard of delivery.to
//!     Kick                 to the shard of the member
//!     DeadLetter, Missed, Notice   published, logged
//!   then take_ended()                        into the log: they are finished
//!   next_wake_us(now), has_news()            tick(now)
//!   is_over()                                forget the group
//!
//! the shard of a member; all of it on one lane, in order
//!   SUBSCRIBE                                if can_join(key): join(key, epoch, options)
//!   another declaration                      redeclare(key, epoch, declaration)
//!   a Send of another epoch than now         forget it: the `lost` of its epoch brings it back
//!   a Send after UNSUBSCRIBE                 handed_back(key, epoch, assignment)
//!   a Send that it cannot be encoded for     undeliverable(..): it goes to another one, or is dropped
//!   PUBACK, PUBCOMP < 0x80                   acknowledged(.., stamps)
//!   PUBACK, PUBREC >= 0x80                   refused(..)
//!   logged as its own (QoS 2, sent)          handed_over(key, assignment)
//!   Kick of the current epoch                DISCONNECT, close; then as for every connection that is over:
//!   connection over, session lives           lost(key, epoch, written): take the group's QoS 1, and QoS 2 that was not
//!                                            written, out of the session; say which of all had been written
//!   the session is back                      back(key, epoch + 1, declaration)
//!   taken over, Clean Start 0                lost, back. Clean Start 1: end, join of the new session
//!   UNSUBSCRIBE                              unsubscribe(key, epoch)
//!   session over                             end(key, epoch, written), to the owners of all that it has and joins
//! ```

#![forbid(unsafe_code)]

mod action;
mod answers;
mod assignment;
mod counters;
mod ending;
mod entry;
mod facts;
mod group;
mod life;
mod membership;
mod parking;
mod queue;
mod roster;
mod settings;
mod unable;
mod vacancy;
mod view;
mod watch;

pub use action::{Action, Delivery, Notice};
pub use assignment::{AssignmentId, Epoch, Written};
pub use counters::{Counters, DropReason};
pub use facts::{Facts, Lane};
pub use group::Group;
pub use membership::{MemberOptions, Presence, Tally};
pub use settings::{Expired, Overflow, Settings};
pub use view::{GroupView, MemberView};
pub use watch::CHECK_US;
