//! Topic aliases of one connection, from the client to us.

use std::sync::Arc;

/// Topics by alias; allocated when the first alias is set, which most clients never do.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    topics: Box<[Option<Arc<str>>]>,
}

impl Aliases {
    /// `alias` is within 1..=Topic Alias Maximum, so the table stays within twice that.
    pub(crate) fn set(&mut self, alias: u16, topic: &str) {
        let at = usize::from(alias);
        if self.topics.len() <= at {
            let mut topics = std::mem::take(&mut self.topics).into_vec();
            topics.resize((at + 1).next_power_of_two(), None);
            self.topics = topics.into_boxed_slice();
        }
        // A client repeats topic and alias together often; then there is nothing to copy.
        if self.topics[at].as_deref() != Some(topic) {
            self.topics[at] = Some(topic.into());
        }
    }

    pub(crate) fn get(&self, alias: u16) -> Option<&Arc<str>> {
        self.topics.get(usize::from(alias))?.as_ref()
    }
}
