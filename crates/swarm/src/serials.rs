//! Exact bookkeeping of one publisher's serial numbers as one receiver (or one shared group) sees them.
//!
//! Rules: every serial is either seen or not, one bit each, so loss and repeats are exact, not estimated.
//! What lies below the first hole costs nothing; above it one bit per serial. In order and without loss, which
//! is the usual case, an arrival is one comparison and one addition.

use std::collections::VecDeque;

/// How far a serial may lie ahead of the highest seen: so many lost in a row. What is further is not ours (or a hostile
/// broker's), and would grow the bitmap at a stroke.
pub const AHEAD_MAX: u32 = 1 << 22;

/// What an arrival was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// New, and later than everything before it.
    InOrder,
    /// New, but something sent after it came before it.
    Reordered,
    /// Seen before.
    Duplicate,
    /// More than `AHEAD_MAX` ahead of all; not recorded.
    TooFarAhead,
}

/// The serials of one publisher that have arrived.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Serials {
    /// Every serial below this one has been seen.
    seen_below: u32,
    /// One more than the highest serial seen.
    next: u32,
    /// Bits from `seen_below` rounded down to 64 on. Empty while there is no hole.
    words: VecDeque<u64>,
}

impl Serials {
    /// Records the arrival of `serial` and says what it was.
    #[inline]
    pub fn record(&mut self, serial: u32) -> Arrival {
        if serial == self.seen_below && self.words.is_empty() {
            self.seen_below += 1;
            self.next = self.seen_below;
            return Arrival::InOrder;
        }
        self.record_out_of_line(serial)
    }

    /// How many were sent before the last that has arrived, and that one: others of these are late, or lost.
    pub fn passed(&self) -> u32 {
        self.next
    }

    fn record_out_of_line(&mut self, serial: u32) -> Arrival {
        if serial < self.seen_below {
            return Arrival::Duplicate;
        }
        if serial.saturating_sub(self.next) > AHEAD_MAX || serial == u32::MAX {
            return Arrival::TooFarAhead;
        }
        if !self.mark(serial) {
            return Arrival::Duplicate;
        }
        let in_order = serial >= self.next;
        self.next = self.next.max(serial + 1);
        self.settle();
        if in_order { Arrival::InOrder } else { Arrival::Reordered }
    }

    /// Sets the bit of `serial`; false when it was set.
    fn mark(&mut self, serial: u32) -> bool {
        if self.words.is_empty() {
            self.words.push_back((1 << (self.seen_below % 64)) - 1);
        }
        let base = self.seen_below & !63;
        let (word, bit) = (((serial - base) / 64) as usize, serial % 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let was = self.words[word];
        self.words[word] = was | 1 << bit;
        was & 1 << bit == 0
    }

    /// Moves `seen_below` up to the first hole and drops the words below it.
    fn settle(&mut self) {
        if self.words.is_empty() {
            return;
        }
        let mut base = self.seen_below & !63;
        while self.words.front() == Some(&u64::MAX) {
            self.words.pop_front();
            base += 64;
        }
        let ones = self.words.front().map_or(0, |word| word.trailing_ones());
        self.seen_below = base + ones;
        if self.words.len() == 1 && self.seen_below == self.next {
            self.words.clear();
        }
    }

    /// How many different serials have been seen.
    pub fn unique(&self) -> u64 {
        let base = self.seen_below & !63;
        if self.words.is_empty() {
            return u64::from(self.seen_below);
        }
        u64::from(base) + self.words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>()
    }

    /// How many of the serials `0..sent` have not been seen.
    pub fn missing(&self, sent: u32) -> u64 {
        let base = self.seen_below & !63;
        if sent <= self.seen_below {
            return 0;
        }
        if self.words.is_empty() {
            return u64::from(sent - self.seen_below);
        }
        let bits = u64::from(sent - base);
        let seen: u64 = self.words.iter().enumerate().map(|(i, word)| low_bits(*word, bits, i as u64)).sum();
        bits - seen
    }

    /// Adds what another receiver of the same shared group has seen; returns how many both had seen.
    pub fn merge(&mut self, other: &Self) -> u64 {
        let before = self.unique() + other.unique();
        let (low, high) = if self.seen_below >= other.seen_below { (other, &*self) } else { (&*self, other) };
        let mut merged = high.clone();
        let base = low.seen_below & !63;
        for (index, word) in low.words.iter().enumerate() {
            merged.merge_word(base + index as u32 * 64, *word);
        }
        merged.next = merged.next.max(low.next);
        merged.settle();
        *self = merged;
        before - self.unique()
    }

    fn merge_word(&mut self, first: u32, mut word: u64) {
        while word != 0 {
            let serial = first + word.trailing_zeros();
            if serial >= self.seen_below {
                self.mark(serial);
                self.next = self.next.max(serial + 1);
            }
            word &= word - 1;
        }
    }
}

/// The set bits of word number `index` among the first `bits` bits of the bitmap.
fn low_bits(word: u64, bits: u64, index: u64) -> u64 {
    let here = bits.saturating_sub(index * 64).min(64);
    let mask = if here == 64 { u64::MAX } else { (1 << here) - 1 };
    u64::from((word & mask).count_ones())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Does the usual case stay free of memory?
    #[test]
    fn in_order_costs_nothing() {
        let mut serials = Serials::default();
        assert!((0..1000).all(|serial| serials.record(serial) == Arrival::InOrder));
        assert!(serials.words.is_empty());
        assert_eq!((serials.unique(), serials.missing(1000), serials.missing(1010)), (1000, 0, 10));
    }

    /// Is each kind of arrival named rightly around a hole that is filled late?
    #[test]
    fn around_a_hole() {
        let mut serials = Serials::default();
        let arrivals = [0, 2, 2, 1, 1, 3].map(|serial| serials.record(serial));
        use Arrival::{Duplicate, InOrder, Reordered};
        assert_eq!(arrivals, [InOrder, InOrder, Duplicate, Reordered, Duplicate, InOrder]);
        assert!(serials.words.is_empty(), "a filled hole gives its memory back");
    }

    /// Can a stamp from elsewhere make the bitmap grow without bound?
    #[test]
    fn far_ahead_is_refused() {
        let mut serials = Serials::default();
        assert_eq!(serials.record(u32::MAX), Arrival::TooFarAhead);
        assert_eq!(serials.record(AHEAD_MAX + 1), Arrival::TooFarAhead);
        assert_eq!(serials.unique(), 0);
    }

    /// Does one early loss leave a long run countable? (Once the distance was measured from the first hole.)
    #[test]
    fn an_old_hole_does_not_matter() {
        let mut serials = Serials::default();
        assert_eq!(serials.record(AHEAD_MAX), Arrival::InOrder);
        assert_eq!(serials.record(2 * AHEAD_MAX), Arrival::InOrder);
        assert_eq!((serials.unique(), serials.missing(2 * AHEAD_MAX + 1)), (2, u64::from(2 * AHEAD_MAX) - 1));
    }

    proptest! {
        /// Does the bitmap agree with a plain set, whatever comes?
        #[test]
        fn agrees_with_a_set(arrivals in prop::collection::vec(0u32..300, 0..400), sent in 0u32..310) {
            let (mut serials, mut seen) = (Serials::default(), BTreeSet::new());
            for serial in arrivals {
                let highest = seen.last().copied();
                let expected = match (seen.insert(serial), highest) {
                    (false, _) => Arrival::Duplicate,
                    (true, Some(highest)) if serial < highest => Arrival::Reordered,
                    (true, _) => Arrival::InOrder,
                };
                prop_assert_eq!(serials.record(serial), expected);
            }
            prop_assert_eq!(serials.unique(), seen.len() as u64);
            prop_assert_eq!(serials.missing(sent), (0..sent).filter(|serial| !seen.contains(serial)).count() as u64);
        }

        /// Is the union of two receivers that of two sets, and the overlap their intersection?
        #[test]
        fn merges_like_sets(a in prop::collection::vec(0u32..300, 0..300), b in prop::collection::vec(0u32..300, 0..300)) {
            let (mut left, mut right) = (Serials::default(), Serials::default());
            a.iter().for_each(|serial| { left.record(*serial); });
            b.iter().for_each(|serial| { right.record(*serial); });
            let (a, b): (BTreeSet<_>, BTreeSet<_>) = (a.into_iter().collect(), b.into_iter().collect());
            prop_assert_eq!(left.merge(&right), a.intersection(&b).count() as u64);
            prop_assert_eq!(left.unique(), a.union(&b).count() as u64);
            prop_assert_eq!(left.missing(300), 300 - a.union(&b).count() as u64);
        }
    }

    /// Regression: do two members that saw the same, or one all and one nothing, leave nothing missing?
    #[test]
    fn merging_without_holes_keeps_everything() {
        for (mine, theirs) in [(1500, 0), (0, 1500), (1500, 1500), (70, 1500)] {
            let mut all = Serials::default();
            (0..mine).map(|serial| all.record(serial)).for_each(|arrival| assert_eq!(arrival, Arrival::InOrder));
            let mut other = Serials::default();
            (0..theirs).map(|serial| other.record(serial)).for_each(|arrival| assert_eq!(arrival, Arrival::InOrder));
            let both = all.merge(&other);
            assert_eq!((all.missing(1500), all.unique(), both), (0, 1500, u64::from(mine.min(theirs))));
        }
    }
}
