//! What is a topic, what is a filter and which match, as the codec judges it: for what Python says of them before a packet has
//! them.

use lapwing_codec::Limits;
use lapwing_codec::topic::{TopicError, matches, validate_filter, validate_topic_name};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Why nothing can be published to `topic`, in words behind it; None: something can.
#[pyfunction]
pub(crate) fn topic_fault(topic: &Bound<'_, PyString>) -> Option<String> {
    fault(topic, validate_topic_name)
}

/// Why nobody can subscribe to `topic_filter`, ordinary or shared, in words behind it; None: somebody can.
#[pyfunction]
pub(crate) fn filter_fault(topic_filter: &Bound<'_, PyString>) -> Option<String> {
    fault(topic_filter, validate_filter)
}

/// Whether an ordinary filter matches a topic.
#[pyfunction]
pub(crate) fn filter_matches(topic_filter: &str, topic: &str) -> bool {
    matches(topic_filter, topic)
}

fn fault(text: &Bound<'_, PyString>, judge: fn(&str, &Limits) -> Result<(), TopicError>) -> Option<String> {
    // A string of Python may have halves of a pair, which is no UTF-8.
    let Ok(text) = text.to_cow() else { return Some("it is not UTF-8".to_owned()) };
    judge(&text, &Limits::PROTOCOL).err().map(|error| error.to_string())
}
