//! The audit trail: who came, who was refused, who changed what; one JSON object a line, in a file of its own.
//!
//! Rules:
//! - Whoever has something to write gives it to a bounded queue and goes on; one thread writes. What finds no room is lost,
//!   counted, and the trail says how many.
//! - Refusals have a rate by kind: a stranger makes no more of the trail than that.
//! - No payload, no password, no token. Text of strangers is cut, and a token in it is hidden, wherever it stands.
//! - A line is ASCII: nothing in a name forges another line, or turns one around.
//! - With a chain each line has the hash of the one before: what is changed or taken out of the midst shows. Whoever may write
//!   the file can make all of it anew; who must be sure of more keeps the last hash elsewhere (docs/audit.md).

mod chain;
mod desk;
mod ending;
mod event;
mod file;
mod look;
mod text;
mod thread;

pub(crate) use desk::{Audit, Refusal};
pub(crate) use event::AuditEvent;
pub(crate) use look::look;
pub(crate) use text::told;
pub(crate) use thread::{AuditThread, lay_audit};
