//! Topics with a value each, found by filter: retained messages.

use std::ops::ControlFlow;

use crate::trie::{ROOT, Trie};
use crate::walk::{Cursor, Walk};

/// Where a part of a walk stands when it visits a value.
pub struct Place<'w, 't, V>(&'w Walk<'t, V>);

impl<V> Place<'_, '_, V> {
    /// The place behind this value: a walk from there on does not see it again.
    pub fn cursor(&self) -> Cursor {
        self.0.cursor()
    }
}

/// What a node of the tree carries.
#[derive(Debug)]
pub(crate) struct Stamped<V> {
    /// When the node was made, in steps; 0: just now.
    pub(crate) stamp: u64,
    pub(crate) value: Option<V>,
}

impl<V> Default for Stamped<V> {
    fn default() -> Self {
        Stamped { stamp: 0, value: None }
    }
}

/// Values under exact topics; a filter enumerates those it matches.
pub struct TopicTree<V> {
    trie: Trie<Stamped<V>>,
    len: usize,
    /// The last stamp given.
    stamp: u64,
}

impl<V> Default for TopicTree<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> TopicTree<V> {
    /// Nothing.
    pub fn new() -> Self {
        TopicTree { trie: Trie::new(), len: 0, stamp: 0 }
    }

    /// Sets the value of `topic` and returns the one before.
    pub fn insert(&mut self, topic: &str, value: V) -> Option<V> {
        let node = self.trie.ensure(topic);
        self.stamp_new(node);
        let before = self.trie.value_mut(node).value.replace(value);
        self.len += usize::from(before.is_none());
        before
    }

    /// Takes the value of `topic` out.
    pub fn remove(&mut self, topic: &str) -> Option<V> {
        let node = self.trie.find(topic)?;
        let before = self.trie.value_mut(node).value.take()?;
        self.len -= 1;
        self.trie.prune(node, |stamped| stamped.value.is_none());
        Some(before)
    }

    /// Stamps the nodes that were made for a topic: they come before their siblings, as the newest.
    fn stamp_new(&mut self, mut node: crate::trie::NodeId) {
        while node != ROOT && self.trie.node(node).value.stamp == 0 {
            self.stamp += 1;
            self.trie.value_mut(node).stamp = self.stamp;
            node = self.trie.node(node).parent;
        }
    }

    /// The value of exactly this topic.
    pub fn get(&self, topic: &str) -> Option<&V> {
        self.trie.node(self.trie.find(topic)?).value.value.as_ref()
    }

    /// The value of exactly this topic, to change.
    pub fn get_mut(&mut self, topic: &str) -> Option<&mut V> {
        let node = self.trie.find(topic)?;
        self.trie.value_mut(node).value.as_mut()
    }

    /// Nodes, level names, and places for either.
    #[cfg(test)]
    pub(crate) fn lengths(&self) -> [usize; 3] {
        [self.trie.len(), self.trie.segments.len(), self.trie.places()]
    }

    /// How many topics have a value.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether no topic has a value.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Calls `visit` with each value whose topic `filter` matches, in no stated order. The topic is not rebuilt: keep it
    /// in `V` if you need it.
    pub fn matching<'t>(&'t self, filter: &str, mut visit: impl FnMut(&'t V)) {
        self.page(filter, None, usize::MAX, |value, _| {
            visit(value);
            ControlFlow::Continue(())
        });
    }

    /// Like [`TopicTree::matching`], a part at a time: begins behind `after` (or at the first topic) and stops when `visit`
    /// breaks off or `nodes_max` nodes of the tree, at least one, were looked at. Returns where to go on, `None` when
    /// everything was seen. The value at which `visit` breaks off counts as seen; [`Place::cursor`] names other places.
    ///
    /// Between two parts topics may come and go: one that was there all the time is seen exactly once; `visit` gets the
    /// value it has then.
    pub fn page<'t>(
        &'t self,
        filter: &str,
        after: Option<&Cursor>,
        nodes_max: usize,
        mut visit: impl FnMut(&'t V, Place<'_, 't, V>) -> ControlFlow<()>,
    ) -> Option<Cursor> {
        let mut walk = Walk::new(&self.trie, filter);
        let mut next = match after.and_then(|after| walk.resume(after)) {
            Some(resumed) => resumed.0,
            None => walk.next(),
        };
        let mut looked_at = 0;
        while let Some(id) = next {
            looked_at += 1;
            let value = self.trie.node(id).value.value.as_ref().filter(|_| walk.is_match());
            if value.is_some_and(|value| visit(value, Place(&walk)).is_break()) || looked_at >= nodes_max {
                return Some(walk.cursor());
            }
            next = walk.next();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values that `filter` matches, `step` at a time, with `between` called between two parts.
    fn paged(
        tree: &mut TopicTree<String>,
        filter: &str,
        step: usize,
        mut between: impl FnMut(&mut TopicTree<String>, &[String]),
    ) -> Vec<String> {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let mut left = step;
            after = tree.page(filter, after.as_ref(), usize::MAX, |value: &String, _| {
                seen.push(value.clone());
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if after.is_none() {
                return seen;
            }
            between(tree, &seen);
        }
    }

    fn tree(topics: &[&str]) -> TopicTree<String> {
        let mut tree = TopicTree::new();
        for topic in topics {
            tree.insert(topic, (*topic).to_owned());
        }
        tree
    }

    fn is_match(filter: &str, topic: &str) -> bool {
        let (mut filter, mut topic) = (filter.split('/').peekable(), topic.split('/').peekable());
        if topic.peek().is_some_and(|level| level.starts_with('$')) && matches!(filter.peek(), Some(&("+" | "#"))) {
            return false;
        }
        loop {
            match (filter.next(), topic.next()) {
                (Some("#"), _) | (None, None) => return true,
                (Some(name), Some(level)) if name == "+" || name == level => {}
                _ => return false,
            }
        }
    }

    const TOPICS: [&str; 12] = ["a", "a/b", "a/b/c", "a/c", "b", "b/b", "b/b/c/d", "$s", "$s/a", "", "/", "a//c"];

    /// Do parts of any size give together what one walk gives, and is that what the filter matches?
    #[test]
    fn parts_make_the_whole() {
        for filter in ["#", "+", "a/#", "+/b", "+/+/c", "a", "a/b/c", "$s/#", "x/#", "+/b/#", "/", "b/b/c"] {
            let mut tree = tree(&TOPICS);
            let mut expected: Vec<&str> = TOPICS.iter().copied().filter(|topic| is_match(filter, topic)).collect();
            expected.sort_unstable();
            for step in 1..6 {
                let mut seen = paged(&mut tree, filter, step, |_, _| {});
                seen.sort_unstable();
                assert_eq!(seen, expected, "{filter} by {step}");
            }
        }
    }

    /// Is each topic that stays seen exactly once while others go (the one where the walk stands among them), are set
    /// again and appear?
    #[test]
    fn a_walk_goes_on_in_a_tree_that_changes() {
        for gone in TOPICS {
            for step in 1..4 {
                let mut tree = tree(&TOPICS);
                let mut n = 0;
                let seen = paged(&mut tree, "#", step, |tree, seen| {
                    tree.remove(gone);
                    tree.remove(seen.last().expect("a part has something"));
                    n += 1;
                    tree.insert(&format!("a/new/{n}"), "new".into());
                    tree.insert("a/b", "a/b".into());
                });
                for topic in
                    TOPICS.iter().filter(|topic| **topic != gone && **topic != "a/b" && !topic.starts_with('$'))
                {
                    assert_eq!(seen.iter().filter(|seen| seen == topic).count(), 1, "{topic} without {gone} by {step}");
                }
            }
        }
    }

    /// Does a walk that finds little come up for air?
    #[test]
    fn a_part_looks_at_a_bounded_number_of_nodes() {
        let tree = tree(&TOPICS);
        let (mut after, mut parts, mut seen) = (None, 0, 0);
        loop {
            let visit = |_: &String, _: Place<'_, '_, String>| {
                seen += 1;
                ControlFlow::Continue(())
            };
            after = tree.page("+/b/c/d", after.as_ref(), 1, visit);
            parts += 1;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, 1);
        assert!(parts > 3);
    }

    /// Is the value of exactly one topic found, changed and missed?
    #[test]
    fn one_topic_has_one_value() {
        let mut tree = tree(&["a/b"]);
        assert!(!tree.is_empty() && TopicTree::<String>::new().is_empty());
        assert_eq!((tree.get("a/b").map(String::as_str), tree.get("a")), (Some("a/b"), None));
        assert_eq!(tree.get_mut("a/b/c"), None);
        tree.get_mut("a/b").expect("it is there").push('!');
        assert_eq!(tree.insert("a/b", "new".into()).as_deref(), Some("a/b!"));
        assert_eq!((tree.remove("a/b").as_deref(), tree.is_empty()), (Some("new"), true));
    }

    /// Does a walk from the place behind a value go on with the next one?
    #[test]
    fn a_place_is_where_a_walk_goes_on() {
        let tree = tree(&TOPICS);
        let mut places = Vec::new();
        tree.page("#", None, usize::MAX, |value, place| {
            places.push((value.clone(), place.cursor()));
            ControlFlow::Continue(())
        });
        for pair in places.windows(2) {
            let mut next = None;
            tree.page("#", Some(&pair[0].1), usize::MAX, |value, _| {
                next = Some(value.clone());
                ControlFlow::Break(())
            });
            assert_eq!(next.as_ref(), Some(&pair[1].0));
        }
        assert!(places.len() > 8);
    }
}
