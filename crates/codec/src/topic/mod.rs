//! Topic names, topic filters and how they match (MQTT 5.0, section 4.7 and 4.8).

mod matching;
mod shared;
mod validate;

pub use matching::matches;
pub use shared::SharedFilter;
pub use validate::{TopicError, validate_filter, validate_topic_name};
