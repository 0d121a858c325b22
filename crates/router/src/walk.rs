//! A walk over the topics that a filter matches, in a fixed order, which can stop anywhere and go on later.
//!
//! Siblings are linked newest first, and each node is stamped with a number that only grows. So a place in the walk can
//! be named by the stamps on the way to it, and is found again even when the node itself has gone: what comes next is its
//! first sibling with a smaller stamp. A topic that appears behind that place is not visited, one that goes is not missed.

use smallvec::SmallVec;

use crate::segments::SegmentId;
use crate::topics::Stamped;
use crate::trie::{NONE, NodeId, ROOT, Trie};

/// A place in a walk: behind one topic. Belongs to the table and the filter that it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// From the first level down: the node, and its stamp, by which a node that reuses its number is told from it.
    path: SmallVec<[(NodeId, u64); 4]>,
}

/// How a filter level chooses among the children of a node.
#[derive(Clone, Copy)]
enum Choice {
    /// The filter ends here.
    Nothing,
    /// Any child.
    All,
    /// The child of this name; `None`: no topic has such a level.
    Named(Option<SegmentId>),
}

/// A walk under way.
pub(crate) struct Walk<'t, V> {
    trie: &'t Trie<Stamped<V>>,
    /// One for each level of the filter, as far as its `#`.
    choices: SmallVec<[Choice; 16]>,
    ends_in_hash: bool,
    path: SmallVec<[NodeId; 16]>,
}

impl<'t, V> Walk<'t, V> {
    pub(crate) fn new(trie: &'t Trie<Stamped<V>>, filter: &str) -> Self {
        let mut choices = SmallVec::new();
        let mut ends_in_hash = false;
        for name in filter.split('/') {
            match name {
                "#" => ends_in_hash = true,
                "+" => choices.push(Choice::All),
                name => choices.push(Choice::Named(trie.segments.find(name))),
            }
        }
        Walk { trie, choices, ends_in_hash, path: SmallVec::new() }
    }

    /// The next node of the walk; its topic matches when [`Walk::is_match`] says so.
    pub(crate) fn next(&mut self) -> Option<NodeId> {
        let parent = self.path.last().copied().unwrap_or(ROOT);
        match self.first_child(parent, self.path.len()) {
            Some(child) => self.enter(child),
            None => self.leave(),
        }
    }

    /// Whether the filter matches the topic of the node that [`Walk::next`] returned last.
    pub(crate) fn is_match(&self) -> bool {
        let depth = self.path.len();
        depth == self.choices.len() || (self.ends_in_hash && depth > self.choices.len())
    }

    /// The place behind the node that was returned last.
    pub(crate) fn cursor(&self) -> Cursor {
        Cursor { path: self.path.iter().map(|&id| (id, self.trie.node(id).value.stamp)).collect() }
    }

    /// Goes to `cursor`; returns the next node when the place itself has gone.
    pub(crate) fn resume(&mut self, cursor: &Cursor) -> Option<Resumed> {
        for &(id, stamp) in &cursor.path {
            if self.trie.node(id).value.stamp == stamp {
                self.path.push(id);
                continue;
            }
            let depth = self.path.len();
            let parent = self.path.last().copied().unwrap_or(ROOT);
            let older = match self.choice(depth) {
                Choice::All => self.visible(self.trie.node(parent).first_child, parent, |older| older < stamp),
                Choice::Named(_) | Choice::Nothing => None,
            };
            let next = match older {
                Some(sibling) => self.enter(sibling),
                None => self.leave(),
            };
            return Some(Resumed(next));
        }
        None
    }

    fn enter(&mut self, node: NodeId) -> Option<NodeId> {
        self.path.push(node);
        Some(node)
    }

    /// The next node that is not below the current one.
    fn leave(&mut self) -> Option<NodeId> {
        while let Some(node) = self.path.pop() {
            let depth = self.path.len();
            if let Choice::All = self.choice(depth) {
                let parent = self.path.last().copied().unwrap_or(ROOT);
                if let Some(sibling) = self.visible(self.trie.node(node).next, parent, |_| true) {
                    return self.enter(sibling);
                }
            }
        }
        None
    }

    fn choice(&self, depth: usize) -> Choice {
        let beyond = if self.ends_in_hash { Choice::All } else { Choice::Nothing };
        self.choices.get(depth).copied().unwrap_or(beyond)
    }

    fn first_child(&self, parent: NodeId, depth: usize) -> Option<NodeId> {
        match self.choice(depth) {
            Choice::Nothing => None,
            Choice::All => self.visible(self.trie.node(parent).first_child, parent, |_| true),
            Choice::Named(segment) => self.trie.child(parent, segment?),
        }
    }

    /// The first from `child` on that a wildcard may stand for, at the root none that starts with `$`, and whose stamp is
    /// `wanted`.
    fn visible(&self, mut child: NodeId, parent: NodeId, wanted: impl Fn(u64) -> bool) -> Option<NodeId> {
        while child != NONE {
            let node = self.trie.node(child);
            let is_hidden = parent == ROOT && self.trie.segments.text(node.segment).starts_with('$');
            if !is_hidden && wanted(node.value.stamp) {
                return Some(child);
            }
            child = node.next;
        }
        None
    }
}

/// The node from which a walk goes on whose place has gone, if there is one.
pub(crate) struct Resumed(pub(crate) Option<NodeId>);
