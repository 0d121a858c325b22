//! Bytes: numbers and texts, lists of them, and the reader that never goes beyond the end.
//!
//! Numbers are LEB128: seven bits a byte, lowest first, at most ten bytes, in their shortest form only, so that one state
//! has one encoding. A text or a run of bytes is its length and itself.

mod input;
mod list;
mod output;
mod varint;

pub(crate) use input::Input;
pub use list::List;
pub(crate) use list::Pack;
pub(crate) use output::{put_bytes, put_number, put_text};
