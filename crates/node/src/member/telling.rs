//! What nodes tell each other of themselves, once a second: their room on disk, and what their clocks show.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use lapwing_peer::{Answered, DiskRoom, NodeId, Told};

/// How often each node is told.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// What this node says, and what it has heard. It is the raft thread's.
pub(super) struct Telling {
    /// Microseconds of this node are counted from here.
    origin: Instant,
    pub(super) room: DiskRoom,
    /// Where the data folder lies; `None`: nobody can tell.
    pub(super) free_bytes: Option<u64>,
    /// Who is to be told now.
    due: BTreeSet<NodeId>,
    told_at: Option<Instant>,
    heard: BTreeMap<NodeId, Heard>,
}

/// What a node has said last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) told: Told,
    /// Its wall clock less this node's.
    pub(super) skew_ms: i64,
    at_us: u64,
    round_trip_us: Option<u64>,
}

impl Telling {
    pub(super) fn new(now: Instant) -> Telling {
        let (due, heard) = (BTreeSet::new(), BTreeMap::new());
        Telling { origin: now, room: DiskRoom::default(), free_bytes: None, due, told_at: None, heard }
    }

    /// Time passes: those who are connected are told when a second is over.
    pub(super) fn tick(&mut self, now: Instant, connected: impl Iterator<Item = NodeId>) {
        if self.told_at.is_none_or(|told_at| now.saturating_duration_since(told_at) >= TELL_EVERY) {
            self.told_at = Some(now);
            self.due = connected.collect();
        }
    }

    /// There is a new connection: that node is told at once.
    pub(super) fn opened(&mut self, node: NodeId) {
        self.heard.remove(&node);
        self.due.insert(node);
    }

    /// There is none any more: nobody knows what it would say now.
    pub(super) fn closed(&mut self, node: NodeId) {
        self.heard.remove(&node);
        self.due.remove(&node);
    }

    /// Whether that node is to be told now.
    pub(super) fn is_due(&self, node: NodeId) -> bool {
        self.due.contains(&node)
    }

    /// What that node is to be told now, if anything is. `wall_ms`: this node's wall clock.
    pub(super) fn say(&mut self, node: NodeId, now: Instant, wall_ms: u64) -> Option<Told> {
        if !self.due.remove(&node) {
            return None;
        }
        let said_at_us = self.clock_us(now);
        let answered = |heard: &Heard| Answered {
            said_at_us: heard.told.said_at_us,
            held_us: said_at_us.saturating_sub(heard.at_us),
        };
        let answers = self.heard.get(&node).map(answered);
        Some(Told { wall_ms, free_bytes: self.free_bytes, room: self.room, said_at_us, answers })
    }

    /// A node has said something of itself.
    pub(super) fn hear(&mut self, node: NodeId, told: Told, now: Instant, wall_ms: u64) {
        let at_us = self.clock_us(now);
        // What answers nothing that this node has said is no round trip.
        let since_said = |answers: Answered| at_us.checked_sub(answers.said_at_us)?.checked_sub(answers.held_us);
        let before = self.heard.get(&node).and_then(|heard| heard.round_trip_us);
        let round_trip_us = told.answers.and_then(since_said).or(before);
        // It read its clock half of the round trip ago.
        let way_ms = round_trip_us.unwrap_or(0) / 2_000;
        let skew_ms = told.wall_ms.saturating_add(way_ms) as i64 - wall_ms as i64;
        self.heard.insert(node, Heard { told, skew_ms, at_us, round_trip_us });
    }

    /// What a node has said last, while it is connected.
    pub(super) fn heard(&self, node: NodeId) -> Option<&Heard> {
        self.heard.get(&node)
    }

    /// From 1 on: 0 is no time.
    fn clock_us(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.origin).as_micros() as u64 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALL_MS: u64 = 1_800_000_000_000;

    fn node(id: u8) -> NodeId {
        NodeId::new(id).expect("a node")
    }

    /// Is everybody told once a second, who comes at once, and who has gone not at all?
    #[test]
    fn each_is_told_once_a_second() {
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let mut telling = Telling::new(begun);
        let mut told = vec![];
        for ms in (0..3_000).step_by(20) {
            telling.tick(at(ms), [node(2)].into_iter());
            told.extend(telling.say(node(2), at(ms), WALL_MS).map(|_| ms));
        }
        assert_eq!(told, [0, 1_000, 2_000]);
        telling.opened(node(3));
        assert!(telling.say(node(3), at(3_000), WALL_MS).is_some_and(|told| told.answers.is_none()));
        telling.opened(node(3));
        telling.closed(node(3));
        assert!(telling.say(node(3), at(3_000), WALL_MS).is_none());
    }

    /// Two nodes whose wall clocks differ by 3 s, 80 ms apart each way, with clocks that began at different times: do both know
    /// the difference when each has answered the other, and forget it with the connection?
    #[test]
    fn clocks_are_compared_less_the_way() {
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let (mut here, mut there) = (Telling::new(begun), Telling::new(at(500)));
        let wall = |ms| WALL_MS + ms;
        let ahead = |ms| wall(ms) + 3_000;
        let (mut ms, way) = (1_000, 80);
        for _ in 0..2 {
            here.opened(node(2));
            there.due.insert(node(1));
            let said = here.say(node(2), at(ms), wall(ms)).expect("it is due");
            there.hear(node(1), said, at(ms + way), ahead(ms + way));
            let said = there.say(node(1), at(ms + 200), ahead(ms + 200)).expect("it is due");
            here.hear(node(2), said, at(ms + 200 + way), wall(ms + 200 + way));
            ms += 1_000;
        }
        assert_eq!(here.heard(node(2)).map(|heard| (heard.skew_ms, heard.round_trip_us)), Some((3_000, Some(160_000))));
        here.due.insert(node(2));
        let said = here.say(node(2), at(ms), wall(ms)).expect("it is due");
        there.hear(node(1), said, at(ms + way), ahead(ms + way));
        assert_eq!(there.heard(node(1)).map(|heard| heard.skew_ms), Some(-3_000));
        here.closed(node(2));
        assert_eq!(here.heard(node(2)), None);
    }

    /// An answer to what was never said: is it no round trip, and nothing else?
    #[test]
    fn an_answer_to_nothing_is_no_round_trip() {
        let begun = Instant::now();
        let mut telling = Telling::new(begun);
        for answers in [Answered { said_at_us: 1 << 60, held_us: 1 }, Answered { said_at_us: 1, held_us: 1 << 60 }] {
            let (wall_ms, room) = (1 << 62, DiskRoom::Full);
            let told = Told { wall_ms, free_bytes: None, room, said_at_us: 1, answers: Some(answers) };
            telling.hear(node(2), told, begun, WALL_MS);
            let heard = telling.heard(node(2)).expect("it said so");
            assert_eq!((heard.round_trip_us, heard.skew_ms), (None, (1 << 62) - WALL_MS as i64));
        }
    }
}
