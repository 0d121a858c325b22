//! When the state of a data group is written anew: a decision, apart from who writes it.
//!
//! A snapshot costs what the state is large, and what came behind it is read again by a start and stays on disk. So a state is
//! due when as much came to it as its last snapshot had: writing states costs no more than writing entries does, and the log
//! is no longer than what is alive, but for a floor under small states. Under load that floor is higher: each snapshot is
//! a file that is synced beside the commits. Of a state that holds less than it did, the snapshot is taken for as much smaller.

use crate::data_groups::{Extent, Extents};
use crate::slot::DATA_GROUPS;

/// On a disk that is nearly full states are written anew after so much: acknowledgements are small, and free much.
const LOW_BYTES: u64 = 64 << 10;
/// Or when the log was looked after so often, two seconds: of large messages a few acknowledgements are all.
const LOW_TENDS: u32 = 20;

/// The log is looked after so often in ten seconds: a state that was written before that is due at a higher floor.
const CALM_TENDS: u32 = 100;
/// By so much.
const HURRY: u64 = 16;

/// A snapshot with less in it costs what any file costs, whatever it has.
const SMALL_BYTES: u64 = 64 << 10;

/// How far the entries of each data group have grown behind its snapshot.
#[derive(Debug)]
pub(crate) struct Growth {
    data_groups: [DataGroup; DATA_GROUPS as usize],
    /// Bytes of all entries.
    total: u64,
    /// What comes to any state, however small, before it is due.
    floor_bytes: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct DataGroup {
    /// Bytes of its last snapshot.
    snapshot_bytes: u64,
    /// What that one holds.
    held: u64,
    /// Bytes of its entries since its last snapshot was begun.
    since: u64,
    /// Bytes of all entries when its last snapshot was begun.
    at: u64,
    /// How often the log was looked after since then.
    tends: u32,
    /// Its last snapshot failed, and is to be tried again.
    is_owed: bool,
}

impl Growth {
    /// Goes on with what a start has found.
    pub(crate) fn of(extents: &Extents, floor_bytes: u64) -> Self {
        let data_group = |extent: &Extent| DataGroup {
            snapshot_bytes: extent.snapshot_bytes,
            held: extent.holds,
            since: extent.tail_bytes,
            ..DataGroup::default()
        };
        let data_groups = std::array::from_fn(|place| data_group(&extents[place]));
        Growth { data_groups, total: 0, floor_bytes }
    }

    /// An entry of so many bytes came to a group.
    pub(crate) fn entry(&mut self, data_group: u16, bytes: u64) {
        self.data_groups[usize::from(data_group)].since += bytes;
        self.total += bytes;
    }

    /// The log is looked after.
    pub(crate) fn tend(&mut self) {
        self.data_groups.iter_mut().for_each(|data_group| data_group.tends = data_group.tends.saturating_add(1));
    }

    /// A group that is due; `holds`: how much is in each now.
    pub(crate) fn due(&self, is_low_on_space: bool, holds: impl Fn(u16) -> u64) -> Option<u16> {
        (0..DATA_GROUPS).find(|data_group| self.is_due(*data_group, is_low_on_space, &holds))
    }

    /// One that has grown; and one that is quiet while others grow, because its few entries keep whole segments.
    fn is_due(&self, data_group: u16, is_low_on_space: bool, holds: impl Fn(u16) -> u64) -> bool {
        let known = &self.data_groups[usize::from(data_group)];
        let DataGroup { since, at, tends, is_owed, .. } = *known;
        let floor_bytes = self.floor_bytes.saturating_mul(if tends < CALM_TENDS { HURRY } else { 1 });
        let own_bytes = if known.snapshot_bytes < SMALL_BYTES { 0 } else { known.bytes_now(holds(data_group)) };
        let (enough, others) = (floor_bytes.max(own_bytes), self.total - at);
        let is_needed = is_low_on_space && (others >= LOW_BYTES || tends >= LOW_TENDS);
        let is_grown = since >= enough || others >= enough.saturating_mul(u64::from(DATA_GROUPS));
        is_owed || since > 0 && (is_grown || is_needed)
    }

    /// The snapshot of a group is begun: it has all that came so far, and holds so much.
    pub(crate) fn begun(&mut self, data_group: u16, holds: u64) {
        let at = self.total;
        let data_group = &mut self.data_groups[usize::from(data_group)];
        *data_group = DataGroup { since: 0, at, tends: 0, is_owed: false, held: holds, ..*data_group };
    }

    /// The snapshot that was begun is written.
    pub(crate) fn written(&mut self, data_group: u16, bytes: u64) {
        self.data_groups[usize::from(data_group)].snapshot_bytes = bytes;
    }

    /// The snapshot that was begun could not be written, or the log does not know yet that it was.
    pub(crate) fn failed(&mut self, data_group: u16) {
        self.data_groups[usize::from(data_group)].is_owed = true;
    }
}

impl DataGroup {
    /// About what its snapshot would take now.
    fn bytes_now(&self, holds: u64) -> u64 {
        let (held, holds) = (u128::from(self.held.max(1)), u128::from(holds.min(self.held)));
        // No larger than what it is a part of.
        (u128::from(self.snapshot_bytes) * holds / held) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: u64 = 1 << 20;

    fn growth(extent: Extent) -> Growth {
        let mut extents = Extents::default();
        extents[3] = extent;
        Growth::of(&extents, FLOOR)
    }

    /// Every group holds what it held.
    fn full(_: u16) -> u64 {
        1000
    }

    /// The log is looked after for ten seconds.
    fn calm(growth: &mut Growth) {
        (0..CALM_TENDS).for_each(|_| growth.tend());
    }

    /// Is a small state due at the floor, and a large one when it has doubled?
    #[test]
    fn a_state_is_due_when_as_much_came_as_it_is_large() {
        for (snapshot_bytes, enough) in [(0, FLOOR), (10, FLOOR), (50 * FLOOR, 50 * FLOOR)] {
            let mut growth = growth(Extent { holds: 1000, snapshot_bytes, tail_bytes: 0 });
            for _ in 0..2 {
                calm(&mut growth);
                growth.entry(3, enough - 1);
                assert_eq!(growth.due(false, full), None, "{snapshot_bytes}");
                growth.entry(3, 1);
                assert_eq!(growth.due(false, full), Some(3), "{snapshot_bytes}");
                growth.begun(3, 1000);
            }
        }
    }

    /// Are small states not written at every turn where much comes?
    #[test]
    fn under_load_the_floor_is_higher() {
        let mut growth = growth(Extent::default());
        growth.entry(3, HURRY * FLOOR - 1);
        assert_eq!(growth.due(false, full), None);
        growth.entry(3, 1);
        assert_eq!(growth.due(false, full), Some(3));
        growth.begun(3, 1000);
        growth.entry(3, FLOOR);
        assert_eq!(growth.due(false, full), None);
        calm(&mut growth);
        assert_eq!(growth.due(false, full), Some(3));
    }

    /// Does what a start has read count, so that a node that is killed again and again does not read ever more?
    #[test]
    fn a_tail_from_before_the_start_counts() {
        let mut growth = growth(Extent { holds: 1000, snapshot_bytes: 0, tail_bytes: HURRY * FLOOR - 1 });
        assert_eq!(growth.due(false, full), None);
        growth.entry(3, 1);
        assert_eq!(growth.due(false, full), Some(3));
    }

    #[test]
    fn a_quiet_group_is_due_when_the_others_have_grown_far() {
        let mut growth = growth(Extent::default());
        growth.entry(3, 1);
        for _ in 0..15 {
            growth.entry(7, HURRY * FLOOR);
            assert_eq!(growth.due(false, full), Some(7));
            growth.begun(7, 1000);
            assert_eq!(growth.due(false, full), None);
        }
        growth.entry(7, HURRY * FLOOR - 1);
        assert_eq!(growth.due(false, full), Some(3), "and those with nothing new are not");
        growth.begun(3, 1000);
        assert_eq!(growth.due(false, full), None);
    }

    /// Does a state whose queue was drained not keep its old snapshot until as much came again?
    #[test]
    fn a_state_that_holds_less_is_due_sooner() {
        let mut growth = growth(Extent { holds: 1000, snapshot_bytes: 500 * FLOOR, tail_bytes: 0 });
        growth.entry(3, 100 * FLOOR);
        let drained = |left: u64| move |data_group| if data_group == 3 { left } else { 0 };
        assert_eq!(growth.due(false, drained(1000)), None);
        assert_eq!(growth.due(false, drained(201)), None);
        assert_eq!(growth.due(false, drained(200)), Some(3));
        assert_eq!(growth.due(false, drained(0)), Some(3));
        assert_eq!(growth.due(false, drained(5000)), None, "what is taken for larger is not");
    }

    /// Where the setting is small, are small states written as often as it says?
    #[test]
    fn the_size_of_a_small_state_does_not_matter() {
        let mut extents = Extents::default();
        extents[3] = Extent { holds: 1000, snapshot_bytes: SMALL_BYTES - 1, tail_bytes: 0 };
        extents[4] = Extent { holds: 1000, snapshot_bytes: SMALL_BYTES, tail_bytes: 0 };
        let mut growth = Growth::of(&extents, 1);
        growth.entry(4, HURRY);
        assert_eq!(growth.due(false, full), None);
        growth.entry(3, HURRY);
        assert_eq!(growth.due(false, full), Some(3));
    }

    #[test]
    fn on_a_full_disk_little_is_enough_or_a_while() {
        let mut growth = growth(Extent { holds: 1000, snapshot_bytes: 100 * FLOOR, tail_bytes: 0 });
        growth.entry(3, LOW_BYTES);
        assert_eq!((growth.due(false, full), growth.due(true, full)), (None, Some(3)));
        growth.begun(3, 1000);
        growth.entry(3, 1);
        for _ in 0..LOW_TENDS {
            assert_eq!(growth.due(true, full), None);
            growth.tend();
        }
        assert_eq!(growth.due(true, full), Some(3));
    }

    #[test]
    fn one_that_failed_is_tried_again_and_one_that_is_there_sets_the_measure() {
        let mut growth = growth(Extent::default());
        growth.entry(3, HURRY * FLOOR);
        growth.begun(3, 1000);
        growth.failed(3);
        assert_eq!(growth.due(false, full), Some(3));
        growth.begun(3, 1000);
        growth.written(3, 20 * FLOOR);
        growth.entry(3, 19 * FLOOR);
        assert_eq!(growth.due(false, full), None);
        growth.entry(3, FLOOR);
        assert_eq!(growth.due(false, full), Some(3));
    }
}
