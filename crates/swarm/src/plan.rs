//! Who publishes where and who hears whom: numbers in, topics and numbers out, the same in every process.

use crate::profile::{Pattern, Profile};

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    pattern: Pattern,
    prefix: String,
    publishers: u32,
    subscribers: u32,
    topics: u32,
    groups: u32,
    loopback: bool,
}

impl Plan {
    /// The plan of a checked profile.
    pub fn new(profile: &Profile) -> Self {
        Self {
            pattern: profile.pattern,
            prefix: profile.prefix.clone(),
            publishers: profile.publishers,
            subscribers: profile.subscribers,
            topics: profile.topics,
            groups: profile.groups,
            loopback: profile.loopback,
        }
    }

    /// Publishers of the whole run.
    pub fn publishers(&self) -> u32 {
        self.publishers
    }

    /// Clients that only subscribe, in the whole run.
    pub fn listeners(&self) -> u32 {
        if self.loopback { 0 } else { self.subscribers }
    }

    /// Clients of the whole run.
    pub fn clients(&self) -> u64 {
        u64::from(self.publishers) + u64::from(self.listeners())
    }

    /// True when each publisher is its own subscriber.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// True when each publisher and its only subscriber are in the same lane.
    pub fn is_local(&self) -> bool {
        self.pattern == Pattern::P2p
    }

    /// True when the subscribers are members of shared groups.
    pub fn is_shared(&self) -> bool {
        self.pattern == Pattern::Shared
    }

    /// Client id of publisher `publisher`.
    pub fn publisher_id(&self, publisher: u32) -> String {
        format!("{}-p{publisher}", self.prefix.replace('/', "-"))
    }

    /// Client id of subscriber `subscriber`.
    pub fn subscriber_id(&self, subscriber: u32) -> String {
        format!("{}-s{subscriber}", self.prefix.replace('/', "-"))
    }

    /// Where `publisher` publishes.
    pub fn topic(&self, publisher: u32) -> String {
        let topic = publisher % self.topics;
        match self.pattern {
            Pattern::FanIn => format!("{}/{}/{topic}", self.prefix, topic % self.subscribers),
            Pattern::Devices => format!("{}/{}/readings", self.prefix, self.publisher_id(publisher)),
            Pattern::Shared => format!("{}/{}/{topic}", self.prefix, topic % self.groups),
            _ => format!("{}/{topic}", self.prefix),
        }
    }

    /// What `subscriber` subscribes to.
    pub fn filter(&self, subscriber: u32) -> String {
        match self.pattern {
            Pattern::P2p => format!("{}/{subscriber}", self.prefix),
            Pattern::FanOut if self.topics == 1 => format!("{}/0", self.prefix),
            Pattern::FanOut => format!("{}/+", self.prefix),
            Pattern::FanIn => format!("{}/{subscriber}/+", self.prefix),
            Pattern::Shared => format!("$share/swarm/{}/{}/+", self.prefix, subscriber % self.groups),
            Pattern::Devices => format!("{}/+/readings", self.prefix),
        }
    }

    /// How many copies of each message are to arrive.
    pub fn copies(&self) -> u32 {
        match self.pattern {
            Pattern::FanOut | Pattern::Devices => self.subscribers,
            Pattern::P2p | Pattern::FanIn | Pattern::Shared => 1,
        }
    }

    /// How many publishers `subscriber` hears.
    pub fn heard_by(&self, subscriber: u32) -> u32 {
        match self.pattern {
            Pattern::P2p => 1,
            Pattern::FanIn => {
                let rounds = self.publishers.div_ceil(self.topics);
                rounds * self.topics_of(subscriber)
            }
            _ => self.publishers,
        }
    }

    /// Index of `publisher` among those that `subscriber` hears; `None` when it should not hear it.
    #[inline]
    pub fn hears(&self, subscriber: u32, publisher: u32) -> Option<u32> {
        if publisher >= self.publishers {
            return None;
        }
        match self.pattern {
            Pattern::P2p => (publisher == subscriber).then_some(0),
            Pattern::FanIn => {
                let (round, topic) = (publisher / self.topics, publisher % self.topics);
                let mine = topic % self.subscribers == subscriber;
                mine.then(|| round * self.topics_of(subscriber) + topic / self.subscribers)
            }
            Pattern::Shared => (publisher % self.topics % self.groups == subscriber % self.groups).then_some(publisher),
            _ => Some(publisher),
        }
    }

    /// Fan-in: how many of the topics are `subscriber`'s.
    fn topics_of(&self, subscriber: u32) -> u32 {
        (self.topics + self.subscribers - 1 - subscriber) / self.subscribers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SwarmError;
    use lapwing_codec::topic::{SharedFilter, matches};
    use std::collections::HashSet;

    fn plans() -> Result<Vec<Plan>, SwarmError> {
        [
            r#""pattern": "p2p", "publishers": 5"#,
            r#""pattern": "fan-out", "publishers": 4, "subscribers": 3, "topics": 2"#,
            r#""pattern": "fan-out", "subscribers": 3"#,
            r#""pattern": "fan-in", "publishers": 11, "subscribers": 3, "topics": 7"#,
            r#""pattern": "shared", "publishers": 4, "subscribers": 3"#,
            r#""pattern": "shared", "publishers": 7, "subscribers": 6, "topics": 5, "groups": 2"#,
            r#""pattern": "devices", "publishers": 4, "subscribers": 2"#,
        ]
        .into_iter()
        .map(|more| Ok(Plan::new(&Profile::from_json(&format!(r#"{{"url": "h", "prefix": "a/b", {more}}}"#))?)))
        .collect()
    }

    /// Does what the plan expects agree with what MQTT's matching delivers?
    #[test]
    fn expectations_agree_with_matching() -> Result<(), SwarmError> {
        for plan in plans()? {
            for publisher in 0..plan.publishers {
                let topic = plan.topic(publisher);
                let mut copies = 0;
                for subscriber in 0..plan.subscribers {
                    let filter = plan.filter(subscriber);
                    let shared = SharedFilter::parse(&filter).ok().flatten();
                    let gets = matches(shared.map_or(filter.as_str(), |shared| shared.filter), &topic);
                    assert_eq!(plan.hears(subscriber, publisher).is_some(), gets, "{topic} {filter}");
                    copies += u32::from(gets);
                }
                assert!(plan.is_shared() || copies == plan.copies(), "{topic}: {copies}");
            }
        }
        Ok(())
    }

    /// Has every publisher a place of its own in each subscriber's books?
    #[test]
    fn places_are_distinct() -> Result<(), SwarmError> {
        for plan in plans()? {
            for subscriber in 0..plan.subscribers {
                let places: Vec<u32> = (0..plan.publishers).filter_map(|p| plan.hears(subscriber, p)).collect();
                let distinct: HashSet<u32> = places.iter().copied().collect();
                assert_eq!(distinct.len(), places.len());
                assert!(places.iter().all(|place| *place < plan.heard_by(subscriber)));
            }
            assert_eq!(plan.hears(0, plan.publishers), None, "a stamp from elsewhere");
        }
        Ok(())
    }
}
