//! The tree of level names under filters and topics: nodes, edges, growth and pruning.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use crate::arena::Arena;
use crate::edges::SplitTable;
use crate::segments::{SegmentId, Segments};

/// A node's place in the arena.
pub(crate) type NodeId = u32;

/// No node.
pub(crate) const NONE: NodeId = NodeId::MAX;

/// The node above all first levels.
pub(crate) const ROOT: NodeId = 0;

/// One level of a path. `V::default()` must be the empty value.
pub(crate) struct Node<V> {
    pub(crate) parent: NodeId,
    pub(crate) segment: SegmentId,
    /// Children form a doubly linked list, for enumeration by a filter's wildcards.
    pub(crate) first_child: NodeId,
    pub(crate) next: NodeId,
    previous: NodeId,
    /// Children other than `+` and `#`; without any, a walk need not look for one.
    named_children: u32,
    /// The child `+`, which every walk tries: no hashing for it.
    pub(crate) plus: NodeId,
    /// The child `#`.
    pub(crate) hash: NodeId,
    pub(crate) value: V,
}

impl<V: Default> Default for Node<V> {
    fn default() -> Self {
        Node {
            parent: NONE,
            segment: 0,
            first_child: NONE,
            next: NONE,
            previous: NONE,
            named_children: 0,
            plus: NONE,
            hash: NONE,
            value: V::default(),
        }
    }
}

/// The level names of `path`. Levels are short: a plain loop finds their ends sooner than a vectorised search.
#[inline]
pub(crate) fn levels(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let path = rest?;
        let (name, behind) = match path.bytes().position(|byte| byte == b'/') {
            Some(at) => (&path[..at], Some(&path[at + 1..])),
            None => (path, None),
        };
        rest = behind;
        Some(name)
    })
}

/// Paths of level names with a value at some nodes.
pub(crate) struct Trie<V> {
    nodes: Arena<Node<V>>,
    edges: SplitTable,
    pub(crate) segments: Segments,
    state: DefaultHashBuilder,
}

impl<V: Default> Trie<V> {
    pub(crate) fn new() -> Self {
        let mut nodes = Arena::new();
        let root = nodes.insert(Node::default());
        debug_assert_eq!(root, ROOT);
        Trie { nodes, edges: SplitTable::default(), segments: Segments::new(), state: DefaultHashBuilder::default() }
    }

    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> &Node<V> {
        &self.nodes[id]
    }

    #[inline]
    pub(crate) fn value_mut(&mut self, id: NodeId) -> &mut V {
        &mut self.nodes[id].value
    }

    /// Places for nodes and for level names, occupied or free.
    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.nodes.places() + self.segments.places()
    }

    /// Nodes without the root.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The child of `parent` with the interned name `segment`.
    #[inline]
    pub(crate) fn child(&self, parent: NodeId, segment: SegmentId) -> Option<NodeId> {
        if self.nodes[parent].named_children == 0 {
            return None;
        }
        self.edges.find(self.edge_hash(parent, segment), |index| {
            let node = &self.nodes[index];
            node.parent == parent && node.segment == segment
        })
    }

    #[inline]
    fn edge_hash(&self, parent: NodeId, segment: SegmentId) -> u64 {
        self.state.hash_one((u64::from(parent) << 32) | u64::from(segment))
    }

    /// The node of `path`, if it exists.
    pub(crate) fn find(&self, path: &str) -> Option<NodeId> {
        levels(path).try_fold(ROOT, |node, name| match name {
            "+" => Some(self.nodes[node].plus).filter(|&id| id != NONE),
            "#" => Some(self.nodes[node].hash).filter(|&id| id != NONE),
            name => self.child(node, self.segments.find(name)?),
        })
    }

    /// The node of `path`, made with all its ancestors when missing.
    pub(crate) fn ensure(&mut self, path: &str) -> NodeId {
        levels(path).fold(ROOT, |node, name| self.ensure_child(node, name))
    }

    fn ensure_child(&mut self, parent: NodeId, name: &str) -> NodeId {
        let segment = self.segments.acquire(name);
        let known = match name {
            "+" => self.nodes[parent].plus,
            "#" => self.nodes[parent].hash,
            _ => self.child(parent, segment).unwrap_or(NONE),
        };
        if known != NONE {
            self.segments.release(segment);
            return known;
        }
        let next = self.nodes[parent].first_child;
        let child = self.nodes.insert(Node { parent, segment, next, ..Node::default() });
        self.nodes[parent].first_child = child;
        if next != NONE {
            self.nodes[next].previous = child;
        }
        match name {
            "+" => self.nodes[parent].plus = child,
            "#" => self.nodes[parent].hash = child,
            _ => self.add_edge(parent, segment, child),
        }
        child
    }

    fn add_edge(&mut self, parent: NodeId, segment: SegmentId, child: NodeId) {
        let hash = self.edge_hash(parent, segment);
        self.edges.insert(hash, child);
        self.nodes[parent].named_children += 1;
    }

    /// Removes `id` and its ancestors as far as they have neither children nor, says `is_empty`, a value.
    pub(crate) fn prune(&mut self, mut id: NodeId, is_empty: impl Fn(&V) -> bool) {
        while id != ROOT && self.nodes[id].first_child == NONE && is_empty(&self.nodes[id].value) {
            let parent = self.nodes[id].parent;
            self.unlink(id);
            id = parent;
        }
    }

    fn unlink(&mut self, id: NodeId) {
        let &Node { parent, segment, next, previous, .. } = &self.nodes[id];
        if previous == NONE {
            self.nodes[parent].first_child = next
        } else {
            self.nodes[previous].next = next
        }
        if next != NONE {
            self.nodes[next].previous = previous;
        }
        if self.nodes[parent].plus == id {
            self.nodes[parent].plus = NONE;
        } else if self.nodes[parent].hash == id {
            self.nodes[parent].hash = NONE;
        } else {
            let hash = self.edge_hash(parent, segment);
            self.edges.remove(hash, id);
            self.nodes[parent].named_children -= 1;
        }
        self.nodes.remove(id);
        self.segments.release(segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pruning_leaves_nothing_behind() {
        let mut trie = Trie::<u8>::new();
        for path in ["a/b/c", "a/+/c", "a/b", "", "/", "a/#"] {
            let node = trie.ensure(path);
            *trie.value_mut(node) = 1;
            assert_eq!(trie.find(path), Some(node));
        }
        // a, b, c, +, c, #, and two without a name.
        assert_eq!(trie.len(), 8);
        for path in ["a/b", "a/#", "", "a/b/c", "/", "a/+/c"] {
            let node = trie.find(path).unwrap();
            *trie.value_mut(node) = 0;
            trie.prune(node, |value| *value == 0);
        }
        assert_eq!((trie.len(), trie.segments.len()), (0, 0));
    }
}
