//! The message envelope: as a log record's body, and as rows of an Arrow IPC stream.
//!
//! Rules of the room:
//! - The body format is versioned by its first byte; a reader refuses a version it does not know.
//! - Decoding borrows; bytes on disk are data from outside: any body gives an envelope or an error, never a panic.
//! - The Arrow schema is a contract with every reader ([`schema()`]); a change of it is a new version.

#![forbid(unsafe_code)]

mod batch;
mod columns;
mod envelope;
mod error;
mod schema;
mod varint;

pub use batch::RowBatchBuilder;
pub use envelope::{Envelope, SENT_AT_PROPERTY, UserProperties, sent_at_us};
pub use error::EnvelopeError;
pub use schema::{SCHEMA_VERSION, schema};
