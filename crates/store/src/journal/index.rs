//! What lies in one segment: per group stretches of entries, each with marks to find them by.
//!
//! It only saves time: everything in it can be found again by walking the segment.

use super::data_group::{GROUPS, PLACES};
use super::op::{Mark, Op, Piece, SPACING_BYTES};
use crate::varint;

/// Entries of a group that lie one behind the other in file order, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub first: u64,
    pub last: u64,
    pub records: u64,
    /// On disk.
    pub bytes: u64,
    /// Where some of them lie, the first one always.
    pub marks: Vec<Mark>,
    /// Per entry: how many indexes are missing before it, and its bytes on disk divided by 8. Empty where it was not read.
    pub lengths: Vec<u8>,
}

/// The stretches of one group, ascending, none over another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DataGroupIndex {
    pub stretches: Vec<Stretch>,
    /// Entries of earlier segments from this index on are void.
    pub cut_from: Option<u64>,
    /// The next entries begin a new stretch.
    pub broken: bool,
}

/// The index of one segment, by partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentIndex {
    pub groups: Vec<DataGroupIndex>,
}

impl SegmentIndex {
    /// Knows nothing yet.
    pub(crate) fn new() -> Self {
        Self { groups: vec![DataGroupIndex::default(); PLACES] }
    }

    /// Follows what records of the group in `place` say; their run begins at `run_start`.
    pub(crate) fn apply(&mut self, place: usize, op: &Op, run_start: u64, is_kept: bool) {
        let group = &mut self.groups[place];
        match op {
            Op::Entries(piece) => group.append(piece, run_start, is_kept),
            Op::Truncate { from, .. } => group.truncate(*from),
            Op::Stretch => group.broken = true,
            Op::Marker { .. } | Op::Purge { .. } | Op::Vote(_) | Op::Replaced(_) => {}
        }
    }

    /// The groups that it tells of: that of the metadata only where the segment has to do with it.
    pub(crate) fn told(&self) -> &[DataGroupIndex] {
        let is_empty = |group: &DataGroupIndex| group.stretches.is_empty() && group.cut_from.is_none();
        if self.groups[GROUPS..].iter().all(is_empty) { &self.groups[..GROUPS] } else { &self.groups }
    }

    /// The stretch that has room for this entry, and a position at or before the entry where a record starts.
    pub(crate) fn seek(&self, place: usize, index: u64) -> Option<(&Stretch, u64)> {
        let stretches = &self.groups[place].stretches;
        let behind = stretches.partition_point(|stretch| stretch.first <= index);
        let stretch = behind.checked_sub(1).map(|place| &stretches[place])?;
        let mark = stretch.marks[..stretch.marks.partition_point(|mark| mark.index <= index)].last()?;
        (index <= stretch.last).then_some((stretch, mark.position))
    }
}

impl DataGroupIndex {
    fn append(&mut self, piece: &Piece, run_start: u64, is_kept: bool) {
        let is_broken = std::mem::take(&mut self.broken);
        let follows = |stretch: &Stretch| stretch.last + 1 == piece.first || is_kept && stretch.last < piece.first;
        match self.stretches.last_mut() {
            Some(stretch) if !is_broken && follows(stretch) => stretch.extend(piece, run_start),
            _ => self.stretches.push(Stretch::of(piece, run_start)),
        }
    }

    /// Entries from `from` on are void. What follows begins a stretch of its own: behind a mark before the cut lie void
    /// entries with the same indexes.
    fn truncate(&mut self, from: u64) {
        if self.stretches.first().is_none_or(|stretch| from < stretch.first) {
            self.cut_from = Some(self.cut_from.map_or(from, |earlier| earlier.min(from)));
        }
        self.stretches.truncate(self.stretches.partition_point(|stretch| stretch.first < from));
        if let Some(stretch) = self.stretches.last_mut().filter(|stretch| stretch.last >= from) {
            stretch.cut(from);
        }
        self.broken = true;
    }
}

impl Stretch {
    fn of(piece: &Piece, run_start: u64) -> Self {
        let at = |mark: &Mark| Mark { position: run_start + mark.position, ..*mark };
        Self {
            first: piece.first,
            last: piece.last,
            records: piece.records,
            bytes: piece.bytes,
            marks: piece.marks.iter().map(at).collect(),
            lengths: piece.lengths.clone(),
        }
    }

    fn extend(&mut self, piece: &Piece, run_start: u64) {
        varint::put(piece.first - self.last - 1, &mut self.lengths);
        // The first entry of a piece has none missing before it: one byte.
        self.lengths.extend_from_slice(&piece.lengths[1..]);
        for mark in &piece.marks {
            let position = run_start + mark.position;
            if self.marks.last().is_none_or(|last| position - last.position >= SPACING_BYTES) {
                self.marks.push(Mark { index: mark.index, position });
            }
        }
        self.last = piece.last;
        self.records += piece.records;
        self.bytes += piece.bytes;
    }

    /// Every entry with its bytes on disk; nothing where the lengths were not read.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut rest = &self.lengths[..];
        let mut next = self.first;
        std::iter::from_fn(move || {
            let index = next.checked_add(varint::take(&mut rest)?)?;
            next = index.checked_add(1)?;
            Some((index, varint::take(&mut rest)?.saturating_mul(8)))
        })
    }

    /// Entries from `from` on go; the first one stays.
    fn cut(&mut self, from: u64) {
        let mut kept = Self { first: self.first, ..Self::default() };
        for (index, bytes) in self.entries().take_while(|entry| entry.0 < from) {
            let missing = if kept.records == 0 { 0 } else { index - kept.last - 1 };
            varint::put(missing, &mut kept.lengths);
            varint::put(bytes / 8, &mut kept.lengths);
            (kept.last, kept.records, kept.bytes) = (index, kept.records + 1, kept.bytes + bytes);
        }
        self.marks.truncate(self.marks.partition_point(|mark| mark.index < from));
        *self = Self { marks: std::mem::take(&mut self.marks), ..kept };
    }
}

#[cfg(test)]
mod tests {
    use super::super::op::Ops;
    use super::*;
    use crate::record::{RecordHeader, RecordKind};

    /// Entries of 104 bytes from `first` on, as one run.
    fn entries(indexes: impl IntoIterator<Item = u64>) -> Ops {
        let mut ops = Ops::default();
        for (place, index) in (0..).zip(indexes) {
            ops.entry(&RecordHeader { index, ..RecordHeader::own(RecordKind::Data, 0) }, place * 104, 104);
        }
        ops
    }

    fn apply(index: &mut SegmentIndex, ops: &Ops, run_start: u64, is_kept: bool) {
        ops.list().iter().for_each(|op| index.apply(2, op, run_start, is_kept));
    }

    #[test]
    fn a_seek_lands_at_or_before_the_entry_and_not_far() {
        let mut index = SegmentIndex::new();
        apply(&mut index, &entries(5..505), 1000, false);
        apply(&mut index, &entries(505..600), 100_000, false);
        assert_eq!(index.groups[2].stretches.len(), 1);
        for wanted in 5..600 {
            let at = if wanted < 505 { 1000 + (wanted - 5) * 104 } else { 100_000 + (wanted - 505) * 104 };
            let (_, position) = index.seek(2, wanted).expect("it is there");
            assert!(position <= at && at - position <= SPACING_BYTES + 104, "{wanted} {position} {at}");
        }
        assert_eq!((index.seek(2, 4), index.seek(2, 600), index.seek(1, 7)), (None, None, None));
        let stretch = &index.groups[2].stretches[0];
        assert_eq!((stretch.records, stretch.bytes), (595, 595 * 104));
    }

    #[test]
    fn a_cut_makes_entries_void_and_the_next_ones_begin_a_stretch() {
        let mut index = SegmentIndex::new();
        apply(&mut index, &entries(5..505), 1000, false);
        index.apply(2, &Op::Truncate { from: 100, raft_index: 0 }, 0, false);
        apply(&mut index, &entries(100..110), 90_000, false);
        let group = &index.groups[2];
        assert_eq!(group.cut_from, None, "earlier segments are not touched");
        let ranges: Vec<_> = group.stretches.iter().map(|stretch| (stretch.first, stretch.last)).collect();
        assert_eq!(ranges, [(5, 99), (100, 109)]);
        assert_eq!(group.stretches[0].entries().map(|entry| entry.0).collect::<Vec<_>>(), (5..100).collect::<Vec<_>>());
        assert_eq!((group.stretches[0].records, group.stretches[0].bytes), (95, 95 * 104));
        assert_eq!(index.seek(2, 100).map(|found| found.1), Some(90_000));
        index.apply(2, &Op::Truncate { from: 3, raft_index: 0 }, 0, false);
        assert_eq!((index.groups[2].stretches.len(), index.groups[2].cut_from), (0, Some(3)));
        index.apply(2, &Op::Truncate { from: 2, raft_index: 0 }, 0, false);
        assert_eq!(index.groups[2].cut_from, Some(2));
    }

    #[test]
    fn kept_entries_have_holes_inside_a_stretch() {
        let mut index = SegmentIndex::new();
        apply(&mut index, &entries([3, 4, 9]), 1000, true);
        apply(&mut index, &entries([20, 21]), 9000, true);
        index.apply(2, &Op::Stretch, 0, true);
        apply(&mut index, &entries([40]), 9500, true);
        let found: Vec<Vec<u64>> =
            index.groups[2].stretches.iter().map(|stretch| stretch.entries().map(|entry| entry.0).collect()).collect();
        assert_eq!(found, [vec![3, 4, 9, 20, 21], vec![40]]);
        assert_eq!(index.seek(2, 30), None);
        assert_eq!(index.seek(2, 10).map(|found| found.1), Some(1000));
    }
}
