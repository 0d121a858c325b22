//! Whose handshake goes on next: sources in turn, and within a source one after the other.

use std::collections::{HashMap, VecDeque};

use crate::strangers::Source;

/// Tells one handshake of a thread from all others it has ever had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HandshakeId(pub(crate) usize);

/// Handshakes that can go on. The caller puts none in twice; one that is over meanwhile comes out all the same.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Sources with work, each once, the one that has waited longest first.
    order: VecDeque<Source>,
    /// What they have to do; never empty. Those whom no address tells apart share one turn.
    ready: HashMap<Source, VecDeque<HandshakeId>>,
}

impl Turns {
    /// `id`, of `source`, can go on.
    pub(crate) fn add(&mut self, source: Source, id: HandshakeId) {
        let ready = self.ready.entry(source).or_default();
        if ready.is_empty() {
            self.order.push_back(source);
        }
        ready.push_back(id);
    }

    /// The next one, of the source whose turn it is; the source then stands behind all others.
    pub(crate) fn next(&mut self) -> Option<HandshakeId> {
        let source = self.order.pop_front()?;
        let ready = self.ready.get_mut(&source)?;
        let id = ready.pop_front();
        if ready.is_empty() {
            self.ready.remove(&source);
        } else {
            self.order.push_back(source);
        }
        id
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(n: u32) -> Source {
        Source::Address(std::net::Ipv4Addr::from_bits(n).into())
    }

    /// Does whoever comes wait for one handshake of each other source, however many of them wait?
    #[test]
    fn sources_take_turns() {
        let mut turns = Turns::default();
        for id in 0..100 {
            turns.add(source(1), HandshakeId(id));
        }
        assert_eq!(turns.next(), Some(HandshakeId(0)));
        turns.add(source(2), HandshakeId(200));
        turns.add(Source::Shared, HandshakeId(300));
        let order: Vec<usize> = std::iter::from_fn(|| turns.next()).map(|id| id.0).collect();
        assert_eq!(order[..4], [1, 200, 300, 2]);
        assert_eq!(order[4..], (3..100).collect::<Vec<_>>());
        assert!(turns.is_empty() && turns.ready.is_empty());
    }

    /// On a simulated clock where a handshake costs 3 ms: how long does an honest client wait beside a flood that never ends?
    #[test]
    fn a_flood_waits_behind_itself() {
        const COST_MS: u64 = 3;
        let (mut turns, mut now_ms, mut next_id, mut begun) = (Turns::default(), 0, 1000, HashMap::new());
        let mut longest_ms = 0;
        for round in 0..500 {
            for _ in 0..10 {
                turns.add(source(1), HandshakeId(next_id));
                next_id += 1;
            }
            // One client of each of three other sources comes back whenever it is done.
            for honest in 0..3 {
                if let std::collections::hash_map::Entry::Vacant(place) = begun.entry(honest) {
                    place.insert(now_ms);
                    turns.add(source(10 + honest as u32), HandshakeId(honest));
                }
            }
            now_ms += COST_MS;
            let done = turns.next().expect("there is a flood");
            if let Some(at_ms) = begun.remove(&done.0) {
                longest_ms = longest_ms.max(now_ms - at_ms);
            }
            assert!(round < 10 || longest_ms > 0, "the honest are never served");
        }
        // One of each of the other three sources, and its own.
        assert_eq!(longest_ms, 4 * COST_MS);
    }
}
