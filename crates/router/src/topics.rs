//! Topics with a value each, found by filter: retained messages.

use smallvec::SmallVec;

use crate::trie::{NONE, NodeId, ROOT, Trie};

/// Values under exact topics; a filter enumerates those it matches.
pub struct TopicTree<V> {
    trie: Trie<Option<V>>,
    len: usize,
}

impl<V> Default for TopicTree<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> TopicTree<V> {
    /// Nothing.
    pub fn new() -> Self {
        TopicTree { trie: Trie::new(), len: 0 }
    }

    /// Sets the value of `topic` and returns the one before.
    pub fn insert(&mut self, topic: &str, value: V) -> Option<V> {
        let node = self.trie.ensure(topic);
        let before = self.trie.value_mut(node).replace(value);
        self.len += usize::from(before.is_none());
        before
    }

    /// Takes the value of `topic` out.
    pub fn remove(&mut self, topic: &str) -> Option<V> {
        let node = self.trie.find(topic)?;
        let before = self.trie.value_mut(node).take()?;
        self.len -= 1;
        self.trie.prune(node, Option::is_none);
        Some(before)
    }

    /// The value of exactly this topic.
    pub fn get(&self, topic: &str) -> Option<&V> {
        self.trie.node(self.trie.find(topic)?).value.as_ref()
    }

    /// The value of exactly this topic, to change.
    pub fn get_mut(&mut self, topic: &str) -> Option<&mut V> {
        let node = self.trie.find(topic)?;
        self.trie.value_mut(node).as_mut()
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
        let levels: SmallVec<[&str; 16]> = filter.split('/').collect();
        let mut stack: SmallVec<[(NodeId, usize); 32]> = SmallVec::new();
        stack.push((ROOT, 0));
        while let Some((id, depth)) = stack.pop() {
            let node = self.trie.node(id);
            match levels.get(depth) {
                None => node.value.iter().for_each(&mut visit),
                Some(&"#") => {
                    // The parent itself matches, then every descendant: they come back here with the same depth.
                    node.value.iter().for_each(&mut visit);
                    self.children(id, |child| stack.push((child, depth)));
                }
                Some(&"+") => self.children(id, |child| stack.push((child, depth + 1))),
                Some(name) => {
                    let segment = self.trie.segments.find(name);
                    if let Some(child) = segment.and_then(|segment| self.trie.child(id, segment)) {
                        stack.push((child, depth + 1));
                    }
                }
            }
        }
    }

    /// The children that a wildcard may stand for: all, but at the root not those that start with `$`.
    fn children(&self, parent: NodeId, mut visit: impl FnMut(NodeId)) {
        let mut child = self.trie.node(parent).first_child;
        while child != NONE {
            let node = self.trie.node(child);
            if parent != ROOT || !self.trie.segments.text(node.segment).starts_with('$') {
                visit(child);
            }
            child = node.next;
        }
    }
}
