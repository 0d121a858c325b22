//! Predefined topic ids that a client says it does not know, though the table has them.

use crate::TopicId;

/// Behind a pointer, from the first one on: hardly a client has any.
#[derive(Debug, Default)]
#[expect(clippy::box_collection, reason = "a list's own three words would be in every client")]
pub(super) struct UnknownIds(Option<Box<Vec<TopicId>>>);

impl UnknownIds {
    pub(super) fn contains(&self, id: TopicId) -> bool {
        self.0.as_ref().is_some_and(|ids| ids.contains(&id))
    }

    /// The client does not know it; it may have said so before.
    pub(super) fn add(&mut self, id: TopicId) {
        if !self.contains(id) {
            self.0.get_or_insert_default().push(id);
        }
    }

    /// The client knows it after all.
    pub(super) fn remove(&mut self, id: TopicId) {
        if let Some(ids) = &mut self.0 {
            ids.retain(|unknown| *unknown != id);
        }
    }

    pub(super) fn clear(&mut self) {
        self.0 = None;
    }
}
