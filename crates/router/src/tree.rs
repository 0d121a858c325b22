//! Filters and their subscribers: who wants this topic.

use std::hash::{BuildHasher, Hash};

use hashbrown::DefaultHashBuilder;
use smallvec::SmallVec;

use crate::cache::{Matched, TopicCache};
use crate::entries::{Entries, Entry};
use crate::gather::Gather;
use crate::segments::SegmentId;
use crate::trie::{NONE, NodeId, ROOT, Trie, levels};

/// Topics that the cache holds unless the caller says otherwise.
const CACHED_TOPICS: usize = 8192;

/// What [`FilterTree::insert`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// Nobody had this filter before (the moment to announce interest to others).
    FirstOfFilter,
    /// The filter was known, the subscriber is new to it.
    NewSubscriber,
    /// The subscriber had this filter; its options are replaced.
    Replaced,
}

/// What [`FilterTree::remove`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Nobody has this filter any more (the moment to withdraw interest).
    LastOfFilter,
    /// Others still have this filter.
    Removed,
    /// The subscriber did not have this filter.
    NotFound,
}

/// Sizes and counts of a tree, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeStats {
    /// Filters with at least one subscriber.
    pub filters: usize,
    /// (filter, subscriber) pairs.
    pub subscriptions: usize,
    /// Nodes of the tree.
    pub nodes: usize,
    /// Matches answered from the cache since the start.
    pub cache_hits: u64,
    /// Matches that walked the tree since the start.
    pub cache_misses: u64,
}

/// Filters with subscribers `S` and per-subscription options `O`; both small and `Copy`.
///
/// Filters and topics must be valid (`lapwing_codec::topic`); an invalid one does no harm but matches as its levels say.
pub struct FilterTree<S, O> {
    trie: Trie<Entries<S, O>>,
    cache: TopicCache,
    gather: Gather<S, O>,
    state: DefaultHashBuilder,
    filters: usize,
    subscriptions: usize,
}

impl<S: Copy + Eq + Ord + Hash, O: Copy> Default for FilterTree<S, O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Copy + Eq + Ord + Hash, O: Copy> FilterTree<S, O> {
    /// An empty tree with a cache of 8,192 topics at most.
    pub fn new() -> Self {
        Self::with_cache(CACHED_TOPICS)
    }

    /// An empty tree; `topics_max`: most topics in its cache (about 100 bytes each), 0 for none.
    pub fn with_cache(topics_max: usize) -> Self {
        FilterTree {
            trie: Trie::new(),
            cache: TopicCache::new(topics_max),
            gather: Gather::default(),
            state: DefaultHashBuilder::default(),
            filters: 0,
            subscriptions: 0,
        }
    }

    /// Subscribes, or replaces the options of a subscription that is there.
    pub fn insert(&mut self, filter: &str, subscriber: S, options: O) -> Insertion {
        let node = self.trie.ensure(filter);
        let entries = self.trie.value_mut(node);
        let first = entries.is_empty();
        if !entries.insert(subscriber, options) {
            return Insertion::Replaced;
        }
        self.subscriptions += 1;
        if !first {
            return Insertion::NewSubscriber;
        }
        self.filters += 1;
        self.invalidate(filter);
        Insertion::FirstOfFilter
    }

    /// Unsubscribes.
    pub fn remove(&mut self, filter: &str, subscriber: S) -> Removal {
        let Some(node) = self.trie.find(filter) else { return Removal::NotFound };
        let entries = self.trie.value_mut(node);
        if !entries.remove(subscriber) {
            return Removal::NotFound;
        }
        self.subscriptions -= 1;
        if !entries.is_empty() {
            return Removal::Removed;
        }
        self.filters -= 1;
        self.trie.prune(node, Entries::is_empty);
        self.invalidate(filter);
        Removal::LastOfFilter
    }

    /// A cached match holds nodes, so it is stale exactly when a filter's first subscriber comes or its last one goes.
    fn invalidate(&mut self, filter: &str) {
        if filter.contains(['+', '#']) {
            self.cache.forget_all();
        } else {
            self.cache.forget(self.state.hash_one(filter));
        }
    }

    /// Calls `deliver` once per subscriber with a filter that matches `topic`; the slice holds all matching
    /// subscriptions of that one subscriber and is never empty. No allocation once its buffers have grown.
    pub fn matches(&mut self, topic: &str, mut deliver: impl FnMut(&[Entry<S, O>])) {
        let hash = self.state.hash_one(topic);
        if let Some(nodes) = self.cache.get(hash, topic) {
            return hand_out(&self.trie, &mut self.gather, nodes, &mut deliver);
        }
        let nodes = walk(&self.trie, topic);
        self.cache.put(hash, topic, &nodes);
        hand_out(&self.trie, &mut self.gather, &nodes, &mut deliver);
    }

    /// Whether any filter matches `topic`.
    pub fn has_match(&mut self, topic: &str) -> bool {
        let hash = self.state.hash_one(topic);
        if let Some(nodes) = self.cache.get(hash, topic) {
            return !nodes.is_empty();
        }
        let nodes = walk(&self.trie, topic);
        self.cache.put(hash, topic, &nodes);
        !nodes.is_empty()
    }

    /// The options that `subscriber` has for exactly this filter.
    pub fn get(&self, filter: &str, subscriber: S) -> Option<O> {
        let entries = &self.trie.node(self.trie.find(filter)?).value;
        entries.position(subscriber).map(|at| entries.as_slice()[at].options)
    }

    /// Nodes, level names, and places for either and for cached topics.
    #[cfg(test)]
    pub(crate) fn lengths(&self) -> [usize; 4] {
        [self.trie.len(), self.trie.segments.len(), self.trie.places(), self.cache.places()]
    }

    /// Sizes and counts.
    pub fn stats(&self) -> TreeStats {
        TreeStats {
            filters: self.filters,
            subscriptions: self.subscriptions,
            nodes: self.trie.len(),
            cache_hits: self.cache.hits,
            cache_misses: self.cache.misses,
        }
    }
}

#[inline]
fn hand_out<S: Copy + Eq + Ord + Hash, O: Copy>(
    trie: &Trie<Entries<S, O>>,
    gather: &mut Gather<S, O>,
    nodes: &[NodeId],
    deliver: &mut impl FnMut(&[Entry<S, O>]),
) {
    match nodes {
        [] => {}
        [node] => trie.node(*node).value.as_slice().iter().for_each(|entry| deliver(std::slice::from_ref(entry))),
        nodes => gather.join(nodes.iter().map(|&node| &trie.node(node).value), deliver),
    }
}

/// The nodes with subscribers whose filters match `topic`.
fn walk<S: Copy + Eq + Hash, O>(trie: &Trie<Entries<S, O>>, topic: &str) -> Matched {
    let levels: SmallVec<[Option<SegmentId>; 16]> = levels(topic).map(|name| trie.segments.find(name)).collect();
    let mut matched = Matched::new();
    let mut branches: SmallVec<[(NodeId, usize); 16]> = SmallVec::new();
    let mut at = Some((ROOT, 0));
    while let Some((id, depth)) = at.or_else(|| branches.pop()) {
        let node = trie.node(id);
        let wildcards = depth > 0 || !topic.starts_with('$');
        // "sport/#" matches "sport" too, so the child `#` counts even when no level is left.
        if node.hash != NONE && wildcards && !trie.node(node.hash).value.is_empty() {
            matched.push(node.hash);
        }
        let Some(level) = levels.get(depth) else {
            if !node.value.is_empty() {
                matched.push(id);
            }
            at = None;
            continue;
        };
        if node.plus != NONE && wildcards {
            branches.push((node.plus, depth + 1));
        }
        at = level.and_then(|segment| trie.child(id, segment)).map(|child| (child, depth + 1));
    }
    matched
}
