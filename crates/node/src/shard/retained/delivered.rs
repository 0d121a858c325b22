//! What came live while subscriptions began: a subscriber that has met a retained message live does not get it from a page too.

use std::collections::HashMap;

use crate::slot::ShardId;

/// Topics that are remembered while subscriptions begin. Beyond, all are forgotten: their subscribers may get some twice, and
/// none too seldom.
const TOPICS_MAX: usize = 65_536;

/// A retained message that came live.
#[derive(Clone, Copy, Debug)]
struct Live {
    origin: ShardId,
    seq: u64,
    /// Its place among all of them.
    at: u64,
}

/// Retained messages that went live to the sessions of one shard while subscriptions of it began.
#[derive(Debug, Default)]
pub(crate) struct Delivered {
    /// Subscriptions begin: what comes live is noted.
    is_watching: bool,
    /// By topic, the last of each origin. Clients choose topics, so the hash is seeded.
    by_topic: HashMap<Box<str>, Vec<Live>>,
    /// How many were noted.
    count: u64,
}

impl Delivered {
    /// A subscription stands in the tree from now on; returns where among the messages that come live.
    pub(crate) fn watch(&mut self) -> u64 {
        self.is_watching = true;
        self.count
    }

    /// A retained message goes live to the sessions here.
    pub(crate) fn note(&mut self, origin: ShardId, seq: u64, topic: &str) {
        if !self.is_watching {
            return;
        }
        self.count += 1;
        let now = Live { origin, seq, at: self.count };
        if let Some(last) = self.by_topic.get_mut(topic) {
            match last.iter_mut().find(|live| live.origin == origin) {
                Some(live) => *live = now,
                None => last.push(now),
            }
            return;
        }
        if self.by_topic.len() >= TOPICS_MAX {
            self.by_topic = HashMap::new();
        }
        self.by_topic.insert(topic.into(), vec![now]);
    }

    /// Whether a retained message went live to the sessions here after `since`.
    pub(crate) fn has(&self, topic: &str, origin: ShardId, seq: u64, since: u64) -> bool {
        let is_it = |live: &Live| live.origin == origin && live.seq == seq && live.at > since;
        self.by_topic.get(topic).is_some_and(|last| last.iter().any(is_it))
    }

    /// No subscription begins any more.
    pub(crate) fn stop_watching(&mut self) {
        self.is_watching = false;
    }

    /// No replay is left that could ask what came live.
    pub(crate) fn forget(&mut self) {
        if !self.is_watching && !self.by_topic.is_empty() {
            self.by_topic = HashMap::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ShardId = ShardId(0);
    const OTHER: ShardId = ShardId(2);

    /// Is what came live while a subscription began told from what came before it, and from another value; and is it forgotten
    /// only when nobody can ask any more?
    #[test]
    fn what_came_live_meanwhile_is_noted() {
        let mut delivered = Delivered::default();
        delivered.note(OTHER, 1, "unwatched");
        let first = delivered.watch();
        delivered.note(OTHER, 2, "t");
        let second = delivered.watch();
        delivered.note(ONE, 2, "t");
        assert!(!delivered.has("unwatched", OTHER, 1, first));
        assert!(delivered.has("t", OTHER, 2, first) && !delivered.has("t", OTHER, 2, second));
        assert!(delivered.has("t", ONE, 2, second) && !delivered.has("t", OTHER, 1, first));
        delivered.forget();
        assert!(delivered.has("t", OTHER, 2, first), "a subscription still begins");
        delivered.stop_watching();
        delivered.note(OTHER, 3, "t");
        assert!(delivered.has("t", OTHER, 2, first));
        delivered.forget();
        assert!(!delivered.has("t", OTHER, 2, first));
    }

    /// Is what is remembered bounded?
    #[test]
    fn memory_is_bounded_by_forgetting() {
        let mut delivered = Delivered::default();
        delivered.watch();
        (0..=TOPICS_MAX as u64).for_each(|n| delivered.note(OTHER, n, &n.to_string()));
        assert!(!delivered.has("0", OTHER, 0, 0), "all were forgotten");
        assert!(delivered.has(&TOPICS_MAX.to_string(), OTHER, TOPICS_MAX as u64, 0), "but the last");
    }
}
