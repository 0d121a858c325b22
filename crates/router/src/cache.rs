//! From an exact topic to the nodes it matched, so that a repeated topic costs one hash and one comparison.

use smallvec::SmallVec;

use crate::trie::NodeId;

/// Longer topics are not cached: they would let a client choose the size of the cache.
const TOPIC_BYTES_MAX: usize = 256;
/// Nor are topics that match many filters: the walk is then a small part of the deliveries.
const NODES_MAX: usize = 32;
/// Sets the cache starts with; it doubles while topics push each other out.
const SETS_MIN: usize = 64;

/// Matched nodes that have subscribers.
pub(crate) type Matched = SmallVec<[NodeId; 4]>;

#[derive(Clone, Default)]
struct Line {
    hash: u64,
    /// The cache's generation when this was filled; 0 = empty.
    generation: u64,
    topic: String,
    nodes: Matched,
}

/// A two-way set-associative cache with a bound on its lines.
pub(crate) struct TopicCache {
    sets: Vec<[Line; 2]>,
    sets_max: usize,
    /// Lines of an older generation are stale.
    generation: u64,
    /// Current lines pushed out since the last growth.
    evictions: usize,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

impl TopicCache {
    /// `topics_max`: most topics kept; 0 = no cache.
    pub(crate) fn new(topics_max: usize) -> Self {
        let sets_max = (topics_max / 2).checked_next_power_of_two().unwrap_or(0);
        let sets_max = if topics_max == 0 { 0 } else { sets_max.max(1) };
        TopicCache { sets: Vec::new(), sets_max, generation: 1, evictions: 0, hits: 0, misses: 0 }
    }

    /// The cached match of `topic`, whose hash is `hash`.
    #[inline]
    pub(crate) fn get(&mut self, hash: u64, topic: &str) -> Option<&Matched> {
        if self.sets.is_empty() {
            return None;
        }
        let at = hash as usize & (self.sets.len() - 1);
        let generation = self.generation;
        let fits = |line: &Line| line.hash == hash && line.generation == generation && line.topic == topic;
        let way = self.sets[at].iter().position(fits);
        match way {
            Some(way) => {
                self.hits += 1;
                Some(&self.sets[at][way].nodes)
            }
            None => None,
        }
    }

    /// Remembers what `topic` matched; the line used longer ago in its set gives way.
    pub(crate) fn put(&mut self, hash: u64, topic: &str, nodes: &Matched) {
        self.misses += 1;
        if self.sets_max == 0 || topic.len() > TOPIC_BYTES_MAX || nodes.len() > NODES_MAX {
            return;
        }
        self.grow_if_crowded();
        let at = hash as usize & (self.sets.len() - 1);
        let generation = self.generation;
        let set = &mut self.sets[at];
        if set[0].generation == generation {
            set.swap(0, 1);
            self.evictions += usize::from(set[0].generation == generation);
        }
        let line = &mut set[0];
        line.topic.clear();
        line.topic.push_str(topic);
        line.nodes.clone_from(nodes);
        (line.hash, line.generation) = (hash, generation);
    }

    /// Places for topics.
    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        2 * self.sets.len()
    }

    fn grow_if_crowded(&mut self) {
        if self.sets.is_empty() {
            self.sets.resize_with(SETS_MIN.min(self.sets_max), Default::default);
        } else if self.evictions > self.sets.len() && self.sets.len() < self.sets_max {
            let doubled = self.sets.len() * 2;
            self.sets.clear();
            self.sets.resize_with(doubled, Default::default);
            self.evictions = 0;
        }
    }

    /// Some wildcard filter appeared or went: every line may be wrong.
    pub(crate) fn forget_all(&mut self) {
        self.generation += 1;
    }

    /// The filter that is exactly this topic appeared or went.
    pub(crate) fn forget(&mut self, hash: u64) {
        if !self.sets.is_empty() {
            let at = hash as usize & (self.sets.len() - 1);
            self.sets[at].iter_mut().filter(|line| line.hash == hash).for_each(|line| line.generation = 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(ids: &[NodeId]) -> Matched {
        Matched::from_slice(ids)
    }

    #[test]
    fn a_line_is_found_until_it_is_forgotten() {
        let mut cache = TopicCache::new(100);
        cache.put(5, "a", &nodes(&[1]));
        cache.put(6, "b", &nodes(&[2]));
        assert_eq!(cache.get(5, "a"), Some(&nodes(&[1])));
        assert_eq!(cache.get(5, "c"), None, "equal hash, other topic");
        cache.forget(5);
        assert_eq!(cache.get(5, "a"), None);
        assert_eq!(cache.get(6, "b"), Some(&nodes(&[2])));
        cache.forget_all();
        assert_eq!(cache.get(6, "b"), None);
    }

    #[test]
    fn it_grows_to_its_bound_and_no_further() {
        let mut cache = TopicCache::new(512);
        for n in 0..10_000_u64 {
            cache.put(n, &n.to_string(), &nodes(&[]));
        }
        assert_eq!(cache.sets.len(), 256);
        let mut off = TopicCache::new(0);
        off.put(1, "a", &nodes(&[1]));
        assert_eq!(off.get(1, "a"), None);
    }

    /// Are the bounds what they say: the longest topic and the most nodes are kept, one more of either is not?
    #[test]
    fn what_is_too_long_or_matches_too_much_is_not_kept() {
        let mut cache = TopicCache::new(100);
        for (topic, count) in [(TOPIC_BYTES_MAX, 1), (1, NODES_MAX), (TOPIC_BYTES_MAX + 1, 1), (1, NODES_MAX + 1)] {
            let (topic, nodes) = ("t".repeat(topic), nodes(&vec![1; count]));
            cache.put(7, &topic, &nodes);
            let is_kept = topic.len() <= TOPIC_BYTES_MAX && nodes.len() <= NODES_MAX;
            assert_eq!(cache.get(7, &topic), is_kept.then_some(&nodes), "{} bytes, {count} nodes", topic.len());
            cache.forget_all();
        }
        assert_eq!((cache.hits, cache.misses), (2, 4));
    }

    /// Does it stay small for few topics, and grow only once more were pushed out than it has sets?
    #[test]
    fn it_grows_when_crowded_and_not_before() {
        let mut cache = TopicCache::new(512);
        let sets = SETS_MIN as u64;
        for n in 0..3 * sets {
            cache.put(n, &n.to_string(), &nodes(&[]));
        }
        cache.put(0, "a", &nodes(&[]));
        assert_eq!((cache.sets.len(), cache.evictions), (SETS_MIN, SETS_MIN + 1));
        cache.put(0, "b", &nodes(&[]));
        assert_eq!((cache.sets.len(), cache.evictions), (2 * SETS_MIN, 0));
    }
}
