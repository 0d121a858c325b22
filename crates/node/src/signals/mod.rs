//! What clients say about themselves and their messages, read from user properties and from `$lapwing/report`.
//!
//! Rules of this room:
//! - Bytes in, numbers of `dispatch` and `groups` out: no shard, no socket, no clock, no configuration. It compiles
//!   without the rest of the node; the fuzzer does that.
//! - Everything here is optional: who says nothing is a standard client. What cannot be read is ignored and counted by the
//!   caller, never a reason to close a connection.
//! - What stands in properties is read one by one: a wrong value is as if it were not there. A report is one word: a
//!   single wrong number in it, and nothing of it is used.
//! - Reading properties allocates nothing. A payload is looked at only if it is short, and nothing of it is kept.
//! - Whether a number is believable is judged by `lapwing_dispatch`, which knows the member that it is about.
//!
//! The page for those who write clients is docs/signals.md.

mod declaration;
mod envelope;
mod number;
#[cfg(test)]
mod oracle;
mod probe;
mod report;
mod unprompted;
mod work;

pub(crate) use declaration::{Declared, Defaults};
#[allow(unused_imports, reason = "what the oracle compares with")]
pub(crate) use declaration::{PROBE_MS_MAX, PROBE_MS_MIN};
pub(crate) use envelope::asks_for_envelope;
pub(crate) use probe::{Probes, probe_payload, probe_topic};
pub(crate) use report::in_acknowledgement;
#[allow(unused_imports, reason = "what the oracle compares with")]
pub(crate) use unprompted::REPORT_BYTES_MAX;
pub(crate) use unprompted::{REPORT_TOPIC, Unprompted};
pub(crate) use work::{DEADLINE_MS_MAX, Said, SaidBy};
