//! Topic names, topic filters and how they match (MQTT 5.0, sections 4.7 and 4.8).

mod field;
mod matching;
mod plain;
mod shared;
mod validate;

pub(crate) use field::{FieldError, filter_from_bytes, name_from_bytes, plain_name_from_bytes};
pub use matching::matches;
pub use shared::SharedFilter;
pub use validate::{TopicError, validate_filter, validate_topic_name};
