//! Topics in, deliveries out.
//!
//! Rules of this room:
//! - It knows topics and filters as `&str` and subscribers as small ids that the caller chose; nothing of packets,
//!   sessions, shards or clocks. Who calls has validated topics and filters (`lapwing_codec::topic`).
//! - The cost of matching, subscribing and unsubscribing does not depend on how many filters there are: one hash table
//!   holds the edges of the whole tree, cut into many small tables so that no single insertion pays for rehashing all
//!   of it, and nodes lie in chunks that never move.
//! - Level names are interned: a topic's levels are hashed once, then the walk compares numbers.
//! - [`FilterTree::matches`] hands out each subscriber once per topic, with all the subscriptions of that subscriber
//!   that matched: so a session can send one copy with the highest QoS and every subscription identifier
//!   [MQTT-3.3.4-2, MQTT-3.3.4-4].
//! - In front of the walk lies a cache from exact topics to the nodes that matched. Only a filter that appears or
//!   disappears makes it stale; one more subscriber of a known filter does not.
//! - A leading wildcard does not match a topic that starts with `$` [MQTT-4.7.2-1].
//! - Walks use a stack on the heap, never recursion: the depth of a topic is the peer's choice.
//! - Hashes are seeded at random, so that a client cannot prepare topics that collide.
//!
//! Two tables: [`FilterTree`] (who wants this topic), [`TopicTree`] (which topics, say retained ones, does this filter
//! match).

#![forbid(unsafe_code)]

mod arena;
mod cache;
mod edges;
mod entries;
mod gather;
#[cfg(test)]
mod one_offs;
mod segments;
mod topics;
mod tree;
mod trie;
mod walk;

pub use entries::Entry;
pub use topics::{Place, TopicTree};
pub use tree::{FilterTree, Insertion, Removal, TreeStats};
pub use walk::Cursor;
