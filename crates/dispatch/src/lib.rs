//! Numbers in, index out: which member of a consumer group will finish a message first.
//!
//! Rules of this room:
//! - No I/O, no clock, no thread. Time is `now_us`, microseconds of one monotonic clock of the process; inside, all
//!   times are milliseconds as `f64` and carry `_ms` in their names. Stamps may come late, in any order and from a
//!   clock that stands still: they are brought into order, and no number ever becomes infinite or NaN.
//! - A pick allocates nothing and changes nothing that is known of members; `sent` does. It looks at every member of up
//!   to 64 places, above at a sample of eight.
//! - The hard bounds lie outside the strategies: whatever one names, nobody who has left, is paused or has his Receive
//!   Maximum is ever sent to.
//! - Who needs time to choose (a strategy in Python, on a thread of its own) sits behind [`Deferred`]: the message waits for
//!   the answer, and what does not come in time is decided by a declared strategy.
//! - The numbers of all members are kept under every strategy: a change of strategy at run time starts with all that is
//!   known.
//! - A message is the queue's or one member's. The queue, the epochs of members and what is moved are the caller's;
//!   here a [`Ticket`] is known until it is acknowledged, withdrawn or its member leaves, and never again.
//! - Everything a client says is doubted: reports have ranges, acknowledgements without a message are counted, and who
//!   acknowledges on receipt gets its fair turn only; with enough of them, so does everybody who does not report. Far
//!   away some are never found: docs/decisions/0019 says how bad that can be.
//!
//! # How the owner of a group drives it
//!
//! ```text
//! member connects          join(declaration, now) -> index
//! publish, acknowledgement, report, join, leave, or next_turn_us has come: while the queue is not empty
//!     pick(work, backlog, now)   critical lane first
//!       To(member)  sent(member, work, now) -> ticket; hand the message and the ticket to the member's shard
//!       Wait        leave it; nobody may have it now
//!       Park        leave this one and all of its key; go on with the next message
//! deferral().has_news, next_turn_us has come   hear(now), whatever waits, then as above
//! PUBACK, PUBCOMP          acknowledged(member, ticket, stamps)
//! taken back unsent        withdrawn(member, ticket, now)
//! refused; it cannot be its own   refused(member, ticket, now); then pick_beside(.., who cannot have it, ..)
//! report                   report(member, report, now); rtt_sample(..) and unsent(..) as they come
//! twice a second or so     for member in stalled(now): disconnect it, leave(member, Stalled, now), move its messages
//! connection lost          leave(member, Left, now), move its messages
//! ```

#![forbid(unsafe_code)]

mod affinity;
mod auto;
mod blind;
mod broke;
mod c3;
mod choose;
mod declaration;
mod deferred;
mod flight;
mod horizon;
mod index;
mod inflight;
mod key_ordered;
mod lef;
mod member;
mod members;
mod parameters;
mod passed_over;
mod peak_ewma;
mod random;
mod rate;
mod report;
mod round_trip;
mod sight;
mod signals;
mod stall;
mod strategy;
mod time;
mod turns;
mod unacknowledged;
mod view;
mod watch;
mod work;

pub use choose::{Ask, Choose, Crew};
pub use declaration::{Acknowledges, Declaration, WORKERS_MAX};
pub use deferred::{Answer, Deferral, Deferred, DeferredCounters, Desk, MemberState, Question, Verdict};
pub use index::{MemberIndex, Ticket};
pub use members::{Leaving, Members, Stamps};
pub use parameters::{Parameter, ParameterError, Parameters};
pub use report::{
    REPORT_QUEUE_MAX, REPORT_RATE_MAX, REPORT_SERVICE_US_MAX, REPORT_SERVICE_US_MIN, Report, ReportError,
};
pub use round_trip::RttSource;
pub use signals::Signals;
pub use strategy::{Strategy, StrategyError};
pub use view::{Counters, Event, MemberView};
pub use work::{Pick, Work};
