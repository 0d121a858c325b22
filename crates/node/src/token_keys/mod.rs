//! Keys of tokens that are fetched: again and again, and sooner when a token names a key that is not known.
//!
//! One thread fetches, and may wait as long as a request may take; nobody waits for it. What it gets is taken as a whole or not
//! at all (`lapwing_access::Tokens`); while it gets nothing the keys there are stay, for a bounded time. When is decided by a
//! pure type, [`Schedule`].

mod control;
mod schedule;
mod thread;

pub(crate) use control::KeyControl;
pub(crate) use thread::{KeyThread, check_fetched};
