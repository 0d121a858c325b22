//! The registered topic ids of one client (6.5, 6.9, 6.10): both ways, bounded.

use crate::TopicId;

/// Topic ids of one client. They are valid as long as its session is; MQTT-SN has no way to take one back.
#[derive(Clone, Debug, Default)]
pub struct Registrations {
    /// The topic of id 1, 2, ..., and what the client knows of it.
    topics: Vec<(Box<str>, Knowledge)>,
    /// Places in `topics` in the order of their names, from so many on that looking through them takes longer. Most clients
    /// have one or two, for which a hash table is larger than all else that is known of them.
    #[expect(clippy::box_collection, reason = "a list's own three words would be in every client")]
    by_name: Option<Box<Vec<u16>>>,
}

/// What a client knows of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    /// Nothing: it was not told, or says so.
    Nothing,
    /// It was told by REGISTER and has not answered, or may have forgotten it since.
    Perhaps,
    /// It has confirmed it.
    Confirmed,
}

/// So many topics are looked through one by one.
const SCANNED_MAX: usize = 8;

/// What a topic is to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    /// The client knows this id.
    Known(TopicId),
    /// The id is this topic's, but the client is to be told first, by REGISTER.
    Untold(TopicId),
    /// There are as many as there may be: 0x01 (congestion) to a client that asks.
    Full,
}

impl Registrations {
    /// The id of a topic that the client itself names, in REGISTER or SUBSCRIBE; the answer tells it. `None`: full.
    pub fn known(&mut self, topic: &str, max: u16) -> Option<TopicId> {
        match self.for_delivery(topic, max) {
            Registration::Known(id) | Registration::Untold(id) => {
                self.confirm(id);
                Some(id)
            }
            Registration::Full => None,
        }
    }

    /// The id by which a message of this topic goes to the client, with a new one where there is none.
    pub fn for_delivery(&mut self, topic: &str, max: u16) -> Registration {
        let place = match self.find(topic) {
            Ok(id) if self.is_known(id) => return Registration::Known(id),
            Ok(id) => return Registration::Untold(id),
            Err(place) => place,
        };
        if self.topics.len() >= usize::from(max) {
            return Registration::Full;
        }
        // There are fewer than 65,535, so the next number is a u16; the last one of those is no id.
        let Some(id) = u16::try_from(self.topics.len() + 1).ok().and_then(TopicId::new) else {
            return Registration::Full;
        };
        make_room(&mut self.topics);
        self.topics.push((topic.into(), Knowledge::Nothing));
        self.note_name(place, id.get() - 1);
        Registration::Untold(id)
    }

    /// The id of a topic, or where it belongs among the names.
    fn find(&self, topic: &str) -> Result<TopicId, usize> {
        let Some(by_name) = &self.by_name else {
            let at = self.topics.iter().position(|(name, _)| **name == *topic);
            return at.and_then(|at| TopicId::new(at as u16 + 1)).ok_or(0);
        };
        let name = |at: u16| self.topics.get(usize::from(at)).map(|(name, _)| &**name);
        let place = by_name.binary_search_by(|at| name(*at).cmp(&Some(topic)))?;
        by_name.get(place).and_then(|at| TopicId::new(at + 1)).ok_or(place)
    }

    /// The topic that was added last, at `at`, has this place in the order of names.
    fn note_name(&mut self, place: usize, at: u16) {
        match &mut self.by_name {
            Some(by_name) => {
                make_room(by_name);
                by_name.insert(place, at);
            }
            None if self.topics.len() > SCANNED_MAX => {
                let mut by_name: Vec<u16> = (0..=at).collect();
                by_name.sort_by(|one, other| self.topics[usize::from(*one)].0.cmp(&self.topics[usize::from(*other)].0));
                self.by_name = Some(Box::new(by_name));
            }
            None => {}
        }
    }

    /// The id by which the client knows the topic already.
    pub fn told(&self, topic: &str) -> Option<TopicId> {
        self.find(topic).ok().filter(|&id| self.is_known(id))
    }

    /// The client has accepted the REGISTER of this id; one that there is not changes nothing.
    pub fn confirm(&mut self, id: TopicId) {
        self.note(id, Knowledge::Confirmed);
    }

    /// A REGISTER of this id goes to the client. Whether one has before, and may have arrived.
    pub(super) fn tell(&mut self, id: TopicId) -> bool {
        let is_repeated = self.knowledge(id) == Some(Knowledge::Perhaps);
        self.note(id, Knowledge::Perhaps);
        is_repeated
    }

    /// The client may have forgotten its ids: each is told again before a message has it.
    pub fn untell(&mut self) {
        let confirmed = self.topics.iter_mut().filter(|(_, knowledge)| *knowledge == Knowledge::Confirmed);
        confirmed.for_each(|(_, knowledge)| *knowledge = Knowledge::Perhaps);
    }

    /// The client does not know this id, as it says, or does not want it; one that there is not changes nothing.
    pub fn deny(&mut self, id: TopicId) {
        self.note(id, Knowledge::Nothing);
    }

    /// The topic of an id that the client says; `None`: 0x02, an invalid topic id.
    ///
    /// One that it was not told yet, or whose REGACK was lost, is as good: it can have it from nowhere else.
    pub fn topic(&self, id: TopicId) -> Option<&str> {
        self.topics.get(index(id)).map(|(topic, _)| &**topic)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.topics.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// A clean session: the client knows nothing (6.3).
    pub fn clear(&mut self) {
        *self = Registrations::default();
    }

    fn is_known(&self, id: TopicId) -> bool {
        self.knowledge(id) == Some(Knowledge::Confirmed)
    }

    fn knowledge(&self, id: TopicId) -> Option<Knowledge> {
        self.topics.get(index(id)).map(|&(_, knowledge)| knowledge)
    }

    fn note(&mut self, id: TopicId, what: Knowledge) {
        if let Some((_, knowledge)) = self.topics.get_mut(index(id)) {
            *knowledge = what;
        }
    }
}

fn index(id: TopicId) -> usize {
    usize::from(id.get()) - 1
}

/// Room for one more: a list begins with one place, not with four.
fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len().max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: u16) -> TopicId {
        TopicId::new(id).unwrap()
    }

    #[test]
    fn section_6_5_a_client_registers_a_topic_and_gets_the_same_id_again() {
        let mut registrations = Registrations::default();
        assert_eq!(registrations.known("a", 9), Some(id(1)));
        assert_eq!(registrations.known("b", 9), Some(id(2)));
        assert_eq!(registrations.known("a", 9), Some(id(1)));
        assert_eq!((registrations.topic(id(1)), registrations.topic(id(2))), (Some("a"), Some("b")));
        assert_eq!((registrations.topic(id(3)), registrations.topic(TopicId::MAX)), (None, None));
        assert_eq!(registrations.for_delivery("a", 9), Registration::Known(id(1)));
    }

    #[test]
    fn section_6_10_a_topic_of_a_wildcard_is_registered_before_its_message() {
        let mut registrations = Registrations::default();
        assert_eq!(registrations.for_delivery("a", 9), Registration::Untold(id(1)));
        assert_eq!(registrations.for_delivery("a", 9), Registration::Untold(id(1)), "the REGACK is not there");
        registrations.confirm(id(1));
        assert_eq!(registrations.for_delivery("a", 9), Registration::Known(id(1)));
        registrations.confirm(id(7));
        assert_eq!((registrations.len(), registrations.topic(id(7))), (1, None), "nobody's id");
    }

    #[test]
    fn section_6_5_the_table_is_bounded() {
        let mut registrations = Registrations::default();
        assert_eq!(registrations.known("a", 1), Some(id(1)));
        assert_eq!(registrations.known("b", 1), None);
        assert_eq!(registrations.for_delivery("c", 1), Registration::Full);
        assert_eq!(registrations.known("a", 1), Some(id(1)), "what is there stays");
        assert_eq!(registrations.known("b", 2), Some(id(2)), "the one before left no trace");
    }

    #[test]
    fn section_5_3_11_no_id_is_a_reserved_one() {
        let mut registrations = Registrations::default();
        for n in 1..=0xFFFE_u16 {
            assert_eq!(registrations.known(&n.to_string(), u16::MAX), TopicId::new(n));
        }
        assert_eq!(registrations.for_delivery("one more", u16::MAX), Registration::Full);
    }

    #[test]
    fn section_6_10_what_a_client_may_have_forgotten_is_told_again() {
        let mut registrations = Registrations::default();
        registrations.known("a", 9);
        registrations.known("b", 9);
        registrations.deny(id(1));
        registrations.deny(id(7));
        assert_eq!(registrations.for_delivery("a", 9), Registration::Untold(id(1)));
        assert_eq!(registrations.for_delivery("b", 9), Registration::Known(id(2)));
        registrations.untell();
        assert_eq!(registrations.for_delivery("b", 9), Registration::Untold(id(2)));
        assert_eq!(registrations.topic(id(2)), Some("b"), "the id is what it was");
    }

    #[test]
    fn section_6_10_an_id_is_told_once_more_where_the_answer_is_not_known() {
        let mut registrations = Registrations::default();
        registrations.for_delivery("a", 9);
        assert_eq!((registrations.tell(id(1)), registrations.tell(id(1))), (false, true));
        registrations.deny(id(1));
        assert!(!registrations.tell(id(1)), "it knows nothing of it, as it says");
        registrations.confirm(id(1));
        registrations.untell();
        assert_eq!((registrations.tell(id(1)), registrations.tell(id(7))), (true, false));
        registrations.for_delivery("b", 9);
        registrations.untell();
        assert!(!registrations.tell(id(2)), "it was never told that");
    }

    /// Is a topic found by name wherever it stands among few and many, and nobody else's?
    #[test]
    fn names_are_found_among_few_and_many() {
        let mut registrations = Registrations::default();
        let name = |n: usize| format!("{}/{n}", n * 7 % 10);
        for count in 1..=3 * SCANNED_MAX {
            assert_eq!(registrations.known(&name(count), u16::MAX), TopicId::new(count as u16));
            assert_eq!(registrations.by_name.is_some(), count > SCANNED_MAX);
            assert!((1..=count).all(|n| registrations.told(&name(n)) == TopicId::new(n as u16)), "{count}");
            assert_eq!(registrations.told(&name(count + 1)), None);
        }
    }

    #[test]
    fn section_6_3_a_clean_session_has_none() {
        let mut registrations = Registrations::default();
        registrations.known("a", 9);
        registrations.clear();
        assert!(registrations.is_empty() && registrations.topic(id(1)).is_none());
    }
}
