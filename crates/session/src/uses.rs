//! Names for QoS 2 messages from the client that hold beyond a crash.
//!
//! A packet id names a message only until it is released. A message may be logged in several places, that it was taken in
//! another, and a crash may leave some of that: what is logged carries a number which the session never gives twice, so
//! that one can tell after the crash what the session does not know of.

use std::collections::{HashMap, VecDeque};

use lapwing_codec::PacketId;
use rustc_hash::FxBuildHasher;

use crate::doubts::Doubts;

/// Places that an empty table keeps.
const PLACES_KEPT: usize = 16;

/// Names one QoS 2 message of a kept session for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The client's name for it, until it is released.
    pub packet_id: PacketId,
    /// The session's: 1 for the first message that it takes, then always more.
    pub use_number: u64,
    /// Messages with lower numbers do not come again, whatever is lost in a crash: nobody need remember them.
    pub settled: u64,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    /// 0: of a former life, settled before this one began.
    number: u64,
    /// It was told as received.
    is_told: bool,
}

/// The numbers of one session.
#[derive(Debug)]
pub(crate) struct Uses {
    next: u64,
    /// Taken for the disk and not released; as many as the client's window towards us, at most.
    taken: HashMap<PacketId, Taken, FxBuildHasher>,
    /// The same in the order of their numbers, with gaps: some have been released.
    line: VecDeque<(u64, PacketId)>,
    /// After a crash, until they are resolved.
    doubts: Option<Box<Doubts>>,
}

impl Uses {
    /// The first number.
    pub(crate) const FIRST: u64 = 1;

    pub(crate) fn new(next: u64) -> Self {
        Uses { next: next.max(Self::FIRST), taken: HashMap::default(), line: VecDeque::new(), doubts: None }
    }

    /// The name of a message that has come and is not taken yet; `dup`: as its client says, it may have come before.
    pub(crate) fn origin(&self, packet_id: PacketId, dup: bool) -> Origin {
        let Some(doubts) = &self.doubts else {
            return Origin { packet_id, use_number: self.next, settled: self.unreleased() };
        };
        let doubted = if dup { doubts.number(packet_id) } else { None };
        let settled = doubts.first().map_or(self.unreleased(), |first| first.min(self.unreleased()));
        Origin { packet_id, use_number: doubted.unwrap_or(self.next), settled }
    }

    /// Until PUBREL nobody knows whether the client has read PUBREC, or will send the message again.
    fn unreleased(&self) -> u64 {
        self.line.front().map_or(self.next, |(number, _)| *number)
    }

    /// Whether this number is of a message that came before the crash.
    pub(crate) const fn is_resent(&self, number: u64) -> bool {
        number < self.next
    }

    /// The message is on its way to the disk.
    pub(crate) fn take(&mut self, packet_id: PacketId, number: u64) {
        self.next = self.next.max(number.saturating_add(1));
        self.taken.insert(packet_id, Taken { number, is_told: false });
        let at = match self.line.back() {
            // What came before the crash belongs in front of what came since.
            Some((last, _)) if *last > number => self.line.partition_point(|(other, _)| *other < number),
            _ => self.line.len(),
        };
        self.line.insert(at, (number, packet_id));
    }

    /// It was taken before the crash.
    pub(crate) fn taken_before(&mut self, packet_id: PacketId) {
        self.taken.insert(packet_id, Taken { number: 0, is_told: true });
    }

    /// The log has something of this message, and nothing says that it was taken.
    pub(crate) fn doubt(&mut self, packet_id: PacketId, number: u64) {
        self.taken.remove(&packet_id);
        self.doubts.get_or_insert_default().add(packet_id, number);
    }

    pub(crate) const fn has_doubts(&self) -> bool {
        self.doubts.is_some()
    }

    /// The client has said which message it means by this packet id; returns whether that was in doubt.
    pub(crate) fn resolve(&mut self, packet_id: PacketId) -> bool {
        let Some(doubts) = &mut self.doubts else { return false };
        let was_doubted = doubts.remove(packet_id);
        if doubts.is_empty() {
            self.doubts = None;
        }
        was_doubted
    }

    /// A message came that the client had not sent before. After `window` of them the client has forgotten the messages in doubt: it
    /// sends again first what it has. Returns them then.
    pub(crate) fn pass_by(&mut self, window: usize) -> Option<Box<Doubts>> {
        self.doubts.take_if(|doubts| doubts.pass_by() >= window)
    }

    /// The message is on disk: its number, to be told; `None` if nobody need know, or knows.
    pub(crate) fn durable(&mut self, packet_id: PacketId) -> Option<u64> {
        let taken = self.taken.get_mut(&packet_id).filter(|taken| !taken.is_told)?;
        taken.is_told = true;
        Some(taken.number)
    }

    /// PUBREL; returns whether the message was told as received.
    pub(crate) fn release(&mut self, packet_id: PacketId) -> bool {
        let released = self.taken.remove(&packet_id);
        let is_over = |taken: &HashMap<PacketId, Taken, _>, number, id: &PacketId| {
            taken.get(id).is_none_or(|taken| taken.number != number)
        };
        while self.line.front().is_some_and(|(number, id)| is_over(&self.taken, *number, id)) {
            self.line.pop_front();
        }
        if self.line.len() > 2 * self.taken.len() + PLACES_KEPT {
            // The first is not released, and the line must not grow behind it for ever.
            let taken = &self.taken;
            self.line.retain(|(number, id)| !is_over(taken, *number, id));
        }
        self.shrink();
        released.is_some_and(|taken| taken.is_told)
    }

    fn shrink(&mut self) {
        if self.taken.is_empty() && self.taken.capacity() > PLACES_KEPT {
            (self.taken, self.line) = (HashMap::default(), VecDeque::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: u16) -> PacketId {
        PacketId::new(id).expect("ids from 1")
    }

    fn settled(uses: &Uses) -> u64 {
        uses.origin(id(1000), false).settled
    }

    /// Do numbers ascend, and is a number settled when its message and all before it are released?
    #[test]
    fn numbers_are_settled_in_order() {
        let mut uses = Uses::new(0);
        assert_eq!(uses.origin(id(7), false), Origin { packet_id: id(7), use_number: 1, settled: 1 });
        (1..4).for_each(|n| uses.take(id(6 + n), n.into()));
        assert_eq!(uses.origin(id(10), false), Origin { packet_id: id(10), use_number: 4, settled: 1 });
        assert_eq!((uses.durable(id(8)), uses.durable(id(8)), uses.durable(id(99))), (Some(2), None, None));
        assert_eq!((uses.release(id(8)), settled(&uses)), (true, 1));
        assert_eq!((uses.durable(id(7)), uses.release(id(7)), settled(&uses)), (Some(1), true, 3));
        assert_eq!((uses.release(id(9)), settled(&uses)), (false, 4), "released too soon: nobody was told of it");
        uses.take(id(7), 4);
        assert_eq!((uses.durable(id(7)), settled(&uses)), (Some(4), 4));
        // Used again while an older one was not released: the former use of the id is over all the same.
        (5..7).for_each(|number| {
            uses.take(id(8), number);
            uses.release(id(8));
        });
        uses.take(id(8), 7);
        assert_eq!((uses.release(id(7)), settled(&uses)), (true, 7));
    }

    /// Is a release told for what was told as received, in this life or the one before, once?
    #[test]
    fn a_release_is_told_once() {
        let mut uses = Uses::new(5);
        uses.taken_before(id(8));
        assert_eq!((uses.durable(id(8)), settled(&uses)), (None, 5));
        assert_eq!([8, 8, 9].map(|n| uses.release(id(n))), [true, false, false]);
    }

    /// Does a message in doubt keep its number, and keep others from being settled, until its client says what has become of it?
    #[test]
    fn what_is_in_doubt_is_not_settled() {
        let mut uses = Uses::new(20);
        [(7, 14), (8, 16), (9, 19)].into_iter().for_each(|(n, number)| uses.doubt(id(n), number));
        let named = |uses: &Uses, n, dup| {
            let Origin { use_number, settled, .. } = uses.origin(id(n), dup);
            (use_number, settled, uses.is_resent(use_number))
        };
        assert_eq!(named(&uses, 5, true), (20, 14, false), "it came before, and nothing of it was left");
        uses.take(id(5), 20);
        assert_eq!([named(&uses, 7, true), named(&uses, 8, false)], [(14, 14, true), (21, 14, false)]);
        assert!(uses.resolve(id(7)) && !uses.resolve(id(7)));
        uses.take(id(7), 14);
        assert_eq!(
            (uses.durable(id(7)), settled(&uses), uses.release(id(7)), settled(&uses)),
            (Some(14), 14, true, 16)
        );
        assert!(uses.resolve(id(8)) && uses.resolve(id(9)) && uses.doubts.is_none());
        assert_eq!(settled(&uses), 20);
    }

    /// Are doubts given up when so many other messages have come as can be unacknowledged?
    #[test]
    fn a_client_that_has_forgotten_is_not_waited_for() {
        let mut uses = Uses::new(20);
        uses.doubt(id(7), 14);
        assert!((0..9).all(|_| uses.pass_by(10).is_none()) && settled(&uses) == 14);
        assert_eq!(uses.pass_by(10).map(|doubts| doubts.ids().collect()), Some(vec![id(7)]));
        assert_eq!((settled(&uses), uses.pass_by(10).is_none()), (20, true));
    }

    /// Does one message that is never released not make the line grow?
    #[test]
    fn the_line_is_bounded_by_what_is_taken() {
        let mut uses = Uses::new(1);
        uses.take(id(1), 1);
        for number in 2..10_000 {
            uses.take(id(2), number);
            uses.release(id(2));
            assert!(uses.line.len() <= PLACES_KEPT + 4, "{} at {number}", uses.line.len());
        }
        assert_eq!(settled(&uses), 1);
        uses.release(id(1));
        assert_eq!((settled(&uses), uses.line.len()), (10_000, 0));
    }
}
