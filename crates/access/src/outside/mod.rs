//! Somebody else who is asked who a client is: what he answers, and for how long that is remembered.
//!
//! Pure, as the rest of the crate: who asks is elsewhere. An answer is read strictly, and what is not an answer of the form
//! that is documented is none, so that nobody comes in by it.

mod answer;
mod cache;
mod config;

pub use answer::Answer;
pub use cache::{AnswerCache, CacheKey};
pub use config::OutsideConfig;
