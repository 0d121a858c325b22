//! Predefined topic ids (6.7): known to both sides beforehand, for all clients and for one.

use std::collections::HashMap;

use lapwing_codec::Limits;
use lapwing_codec::topic::{TopicError, validate_topic_name};
use thiserror::Error;

use crate::TopicId;

/// What an operator wrote down cannot be: what, and where it stands twice.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PredefinedError {
    /// An id that stands for two topics, of which one client could mean either.
    #[error("predefined topic id {id} is given to {first:?} and to {second:?}: give it to one of them")]
    IdTwice {
        /// The id.
        id: TopicId,
        /// The topic that had it.
        first: String,
        /// The topic that was to have it too.
        second: String,
    },
    /// A topic with two ids in one table: a message of it could not say which.
    #[error("topic {topic:?} has the predefined ids {first} and {second}: take one away")]
    TopicTwice {
        /// The topic.
        topic: String,
        /// The id that it had.
        first: TopicId,
        /// The id that it was to have too.
        second: TopicId,
    },
    /// No topic name, or one with wildcards.
    #[error("predefined topic id {id} is given to {topic:?}, which is no topic name: {why}")]
    NotATopic {
        /// The id.
        id: TopicId,
        /// What was to be its topic.
        topic: String,
        /// What is wrong with it.
        why: TopicError,
    },
}

/// The predefined ids of a gateway.
#[derive(Clone, Debug, Default)]
pub struct Predefined {
    all: Table,
    of_client: HashMap<Box<str>, Table>,
}

#[derive(Clone, Debug, Default)]
struct Table {
    topics: HashMap<TopicId, Box<str>>,
    ids: HashMap<Box<str>, TopicId>,
}

impl Predefined {
    /// Adds an id for all clients, or for the one with this client id.
    /// # Errors
    /// It cannot be; nothing was added. An id for one client is for that one what it is for all, so it is not both.
    pub fn add(&mut self, client_id: Option<&str>, id: TopicId, topic: &str) -> Result<(), PredefinedError> {
        let why = validate_topic_name(topic, &Limits::PROTOCOL);
        why.map_err(|why| PredefinedError::NotATopic { id, topic: topic.to_owned(), why })?;
        if let Some(first) = self.taken(client_id, id) {
            return Err(PredefinedError::IdTwice { id, first: first.to_owned(), second: topic.to_owned() });
        }
        let empty = Table::default();
        let table = client_id.map_or(&self.all, |client| self.of_client.get(client).unwrap_or(&empty));
        if let Some(&first) = table.ids.get(topic) {
            return Err(PredefinedError::TopicTwice { topic: topic.to_owned(), first, second: id });
        }
        let table = match client_id {
            None => &mut self.all,
            Some(client) => self.of_client.entry(client.into()).or_default(),
        };
        table.topics.insert(id, topic.into());
        table.ids.insert(topic.into(), id);
        Ok(())
    }

    /// Who has the id already, for anybody who would mean this one too.
    fn taken(&self, client_id: Option<&str>, id: TopicId) -> Option<&str> {
        match client_id {
            Some(client) => self.topic(client, id),
            None => {
                let mut tables = std::iter::once(&self.all).chain(self.of_client.values());
                tables.find_map(|table| table.topics.get(&id)).map(|topic| &**topic)
            }
        }
    }

    /// The topic that an id stands for when this client says it.
    pub fn topic(&self, client_id: &str, id: TopicId) -> Option<&str> {
        let own = self.of_client.get(client_id).and_then(|table| table.topics.get(&id));
        own.or_else(|| self.all.topics.get(&id)).map(|topic| &**topic)
    }

    /// The id by which this client knows a topic; its own before that for all.
    pub fn id(&self, client_id: &str, topic: &str) -> Option<TopicId> {
        let own = self.of_client.get(client_id).and_then(|table| table.ids.get(topic));
        own.or_else(|| self.all.ids.get(topic)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: u16) -> TopicId {
        TopicId::new(id).unwrap()
    }

    #[test]
    fn section_6_7_ids_for_all_and_for_one_client() {
        let mut predefined = Predefined::default();
        predefined.add(None, id(1), "all").unwrap();
        predefined.add(Some("c"), id(2), "own").unwrap();
        predefined.add(Some("d"), id(2), "another's").unwrap();
        assert_eq!(predefined.topic("c", id(1)), Some("all"));
        assert_eq!((predefined.topic("c", id(2)), predefined.topic("d", id(2))), (Some("own"), Some("another's")));
        assert_eq!((predefined.topic("e", id(2)), predefined.topic("c", id(3))), (None, None));
        assert_eq!((predefined.id("c", "own"), predefined.id("e", "own")), (Some(id(2)), None));
        assert_eq!(predefined.id("e", "all"), Some(id(1)));
    }

    #[test]
    fn section_6_7_an_id_is_given_once() {
        let mut predefined = Predefined::default();
        predefined.add(None, id(1), "a").unwrap();
        predefined.add(Some("c"), id(2), "b").unwrap();
        for (client, id_) in [(None, 1), (Some("c"), 1), (Some("d"), 1), (Some("c"), 2), (None, 2)] {
            let refused = predefined.add(client, id(id_), "x");
            assert!(matches!(refused, Err(PredefinedError::IdTwice { .. })), "{client:?} {id_}: {refused:?}");
        }
        let refused = predefined.add(None, id(3), "a").unwrap_err();
        assert_eq!(refused.to_string(), "topic \"a\" has the predefined ids 1 and 3: take one away");
        assert_eq!(predefined.topic("c", id(3)), None, "nothing was added");
        predefined.add(Some("c"), id(3), "a").unwrap();
        assert_eq!((predefined.id("c", "a"), predefined.id("d", "a")), (Some(id(3)), Some(id(1))));
    }

    #[test]
    fn section_6_7_wildcards_are_no_topic() {
        let refused = Predefined::default().add(None, id(1), "a/#").unwrap_err();
        assert!(matches!(refused, PredefinedError::NotATopic { why: TopicError::Wildcard, .. }), "{refused}");
        assert!(refused.to_string().contains("topic id 1") && refused.to_string().contains("a/#"), "{refused}");
    }
}
