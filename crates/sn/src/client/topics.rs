//! The topic ids of a connection, whoever named them: REGACK, SUBACK or REGISTER (6.5, 6.9, 6.10).

use std::collections::HashMap;
use std::sync::Arc;

use crate::TopicId;

/// Names by id, and ids by name.
#[derive(Debug, Default)]
pub(super) struct Topics {
    names: HashMap<TopicId, Arc<str>>,
    ids: HashMap<Arc<str>, TopicId>,
}

impl Topics {
    /// From now on `id` is `topic`; false when there are `max` already.
    pub fn learn(&mut self, id: TopicId, topic: &str, max: u16) -> bool {
        if self.names.get(&id).is_some_and(|known| **known == *topic) {
            return true;
        }
        self.forget(id);
        if self.names.len() >= usize::from(max) {
            return false;
        }
        let topic: Arc<str> = topic.into();
        self.names.insert(id, Arc::clone(&topic));
        self.ids.insert(topic, id);
        true
    }

    /// The id of `topic`.
    pub fn id(&self, topic: &str) -> Option<TopicId> {
        self.ids.get(topic).copied()
    }

    /// The topic of `id`.
    pub fn name(&self, id: TopicId) -> Option<&str> {
        self.names.get(&id).map(|name| &**name)
    }

    /// The gateway does not know this id.
    pub fn forget(&mut self, id: TopicId) {
        if let Some(name) = self.names.remove(&id)
            && self.ids.get(&name) == Some(&id)
        {
            self.ids.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: u16) -> TopicId {
        TopicId::new(id).unwrap()
    }

    #[test]
    fn section_6_5_an_id_has_one_topic_and_a_topic_one_id() {
        let mut topics = Topics::default();
        assert!(topics.learn(id(1), "a", 2) && topics.learn(id(1), "a", 2));
        assert_eq!((topics.id("a"), topics.name(id(1)), topics.name(id(2))), (Some(id(1)), Some("a"), None));
        assert!(topics.learn(id(2), "a", 2), "the gateway has forgotten the first");
        topics.forget(id(1));
        assert_eq!((topics.id("a"), topics.name(id(2))), (Some(id(2)), Some("a")));
        assert!(topics.learn(id(2), "b", 2));
        assert_eq!((topics.id("a"), topics.id("b")), (None, Some(id(2))));
    }

    #[test]
    fn section_6_5_ids_are_bounded() {
        let mut topics = Topics::default();
        assert!(topics.learn(id(1), "a", 1));
        assert!(!topics.learn(id(2), "b", 1));
        assert!(topics.learn(id(1), "b", 1), "in place of another");
        topics.forget(id(1));
        assert!(topics.learn(id(2), "c", 1));
    }
}
