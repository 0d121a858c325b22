//! Looking at one sealed segment: how much of it is live.

use super::super::data_group::{DataGroupId, PLACES};
use super::super::index::{SegmentIndex, Stretch};
use super::super::manifest::Listed;
use super::super::sidecar::Detail;
use super::super::state::{Shared, State};
use super::choose::Candidate;
use super::{ASKED_BYTES, Budget, Compacted, IsLive};
use crate::error::StoreError;
use crate::record::LIFETIME_KEPT;

/// A segment that is being looked at, entry by entry.
#[derive(Debug)]
pub(crate) struct Examination {
    sequence: u64,
    listed: Listed,
    /// The stretches that count, with the lengths of their entries.
    stretches: Vec<(DataGroupId, Stretch)>,
    /// The stretch being looked at, and how many of its entries were.
    at: (usize, usize),
    live_bytes: u64,
}

impl Examination {
    /// Begins with a segment; nothing when replay needs something of it, or when it has to stay because it says that
    /// entries of earlier segments are void.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub(crate) fn begin(shared: &Shared, sequence: u64, listed: Listed) -> Result<Option<Self>, StoreError> {
        let sealed = shared.sealed_file(sequence, listed);
        let (index, notices) = sealed.index(Detail::Stretches)?;
        notices.into_iter().for_each(|notice| shared.notice(notice));
        if !shared.state().is_settled(sequence, listed, &index) {
            return Ok(None);
        }
        let (index, notices) = sealed.index(Detail::Lengths)?;
        notices.into_iter().for_each(|notice| shared.notice(notice));
        let stretches = shared.state().counting(sequence, index);
        Ok(Some(Self { sequence, listed, stretches, at: (0, 0), live_bytes: 0 }))
    }

    /// Asks on; true when the segment was looked at from end to end.
    pub(crate) fn step(&mut self, is_live: IsLive<'_>, budget: &mut Budget, done: &mut Compacted) -> bool {
        let Self { stretches, at, live_bytes, .. } = self;
        while let Some((group, stretch)) = stretches.get(at.0) {
            for (index, bytes) in stretch.entries().skip(at.1).take_while(|entry| entry.0 <= stretch.last) {
                if budget.is_spent() {
                    return false;
                }
                budget.spend(ASKED_BYTES);
                done.asked += 1;
                at.1 += 1;
                if is_live(*group, index) {
                    *live_bytes += bytes;
                }
            }
            *at = (at.0 + 1, 0);
        }
        true
    }

    /// What was found out.
    pub(crate) fn verdict(&self) -> Candidate {
        let is_kept = self.listed.lifetime == LIFETIME_KEPT;
        // A small file is mostly its opening: rewriting it for that would never end.
        let of_entries = || self.stretches.iter().map(|(_, stretch)| stretch.bytes).sum();
        let bytes = if is_kept { of_entries() } else { self.listed.end };
        Candidate { sequence: self.sequence, bytes, live_bytes: self.live_bytes, is_kept }
    }
}

impl State {
    /// Nothing in the segment is needed for replay, and nothing older depends on what it says.
    fn is_settled(&self, sequence: u64, listed: Listed, index: &SegmentIndex) -> bool {
        let is_young = |listed: &Listed| listed.lifetime != LIFETIME_KEPT;
        let is_oldest = || !self.sealed.range(..sequence).any(|(_, other)| is_young(other));
        let cuts = index.groups.iter().any(|group| group.cut_from.is_some());
        let is_purged = |place: usize| {
            let stretches = &index.groups[place].stretches;
            stretches.last().is_none_or(|stretch| stretch.last <= self.groups[place].purged)
        };
        (!cuts || !is_young(&listed) || is_oldest()) && (0..PLACES).all(is_purged)
    }

    /// The stretches of a settled segment, without what later segments made void.
    fn counting(&self, sequence: u64, index: SegmentIndex) -> Vec<(DataGroupId, Stretch)> {
        let mut counting = vec![];
        for (place, group) in index.groups.into_iter().enumerate() {
            let id = DataGroupId(place as u16);
            for mut stretch in group.stretches {
                let held = self.map.at_or_behind(place, stretch.first).filter(|held| held.sequence == sequence);
                if let Some(held) = held.filter(|held| held.first <= stretch.last) {
                    stretch.last = stretch.last.min(held.last);
                    counting.push((id, stretch));
                }
            }
        }
        counting
    }
}
