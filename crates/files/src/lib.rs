//! Files that others have put where we look: what lies there may be a pipe, a device, a folder, or have no end.
//!
//! Rules of this room:
//! - Who opened a pipe would wait for ever, and a device has no end: [`open_file`] opens a file, and nothing else.
//! - What is read whole has a bound, which its reader gives: [`read_file`].
//! - What editors put in front of a text is taken out where a reader would stumble over it: [`without_marks`].
//! - How much room there is where a file lies is asked here, too: [`free_bytes`].
//! - Errors say what lies there, and nothing of what is in it.

#![forbid(unsafe_code)]

mod free;
mod marks;
mod open;
mod read;
mod wrong_kind;

pub use free::free_bytes;
pub use marks::without_marks;
pub use open::open_file;
pub use read::read_file;
pub use wrong_kind::{WrongKind, explained};

/// The bound for a file of certificates, authorities, revocation lists or keys in PEM: more than any chain or list of roots in
/// use, and a hundred thousand revoked certificates. `lapwing.regular_file` has the same; a test compares them.
pub const CERTIFICATE_BYTES_MAX: u64 = 4 << 20;
