//! Bytes: fields of a fixed size, little endian as the log's records are, texts, lists, and the reader that never goes beyond
//! the end.

mod input;
mod list;
mod output;

pub(crate) use input::Input;
pub use list::List;
pub(crate) use list::Pack;
pub(crate) use output::{check_len, check_number, put_short_text, put_text, put_zeros};
