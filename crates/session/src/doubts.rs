//! QoS 2 messages from the client of which the log has something and nothing says that they were taken: a crash came between.
//!
//! Its client has had no PUBCOMP for any of them, so each packet id is still that message's. The client sends it again (DUP), and
//! then it comes under the number that the log knows; or it has had PUBREC, and says PUBREL. What it publishes under the id
//! without DUP is another message: it has forgotten the first.

use std::collections::BTreeMap;

use lapwing_codec::PacketId;
use rustc_hash::FxHashMap;

/// The doubts of one session.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    numbers: FxHashMap<PacketId, u64>,
    /// The same the other way round.
    ids: BTreeMap<u64, PacketId>,
    /// Messages that have come since for the first time.
    passed_by: usize,
}

impl Doubts {
    /// The log has the message `number`. Of two under one packet id the first is over.
    pub(crate) fn add(&mut self, packet_id: PacketId, number: u64) {
        let known = self.numbers.get(&packet_id).copied();
        if known.is_some_and(|known| known >= number) {
            return;
        }
        if let Some(known) = known {
            self.ids.remove(&known);
        }
        self.numbers.insert(packet_id, number);
        self.ids.insert(number, packet_id);
    }

    pub(crate) fn number(&self, packet_id: PacketId) -> Option<u64> {
        self.numbers.get(&packet_id).copied()
    }

    /// True when there was one under this packet id.
    pub(crate) fn remove(&mut self, packet_id: PacketId) -> bool {
        let number = self.numbers.remove(&packet_id);
        number.is_some_and(|number| self.ids.remove(&number).is_some())
    }

    /// The lowest number.
    pub(crate) fn first(&self) -> Option<u64> {
        self.ids.keys().next().copied()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = PacketId> {
        self.ids.values().copied()
    }

    /// Another message came for the first time; how many that makes.
    pub(crate) fn pass_by(&mut self) -> usize {
        self.passed_by += 1;
        self.passed_by
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a packet id stand for the last message under it, and is the lowest number the one that is left?
    #[test]
    fn an_id_is_of_its_last_message() {
        let id = |id| PacketId::new(id).expect("ids from 1");
        let mut doubts = Doubts::default();
        [(7, 3), (8, 4), (7, 9), (7, 5)].into_iter().for_each(|(packet_id, number)| doubts.add(id(packet_id), number));
        assert_eq!([7, 8, 9].map(|n| doubts.number(id(n))), [Some(9), Some(4), None]);
        assert_eq!((doubts.first(), doubts.ids().collect::<Vec<_>>()), (Some(4), vec![id(8), id(7)]));
        assert_eq!([8, 8].map(|n| doubts.remove(id(n))), [true, false]);
        assert_eq!((doubts.first(), doubts.is_empty()), (Some(9), false));
        assert!(doubts.remove(id(7)) && doubts.is_empty());
    }
}
