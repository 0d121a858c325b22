//! Space that the journal has set aside: a file for the next segment, and a reserve.
//!
//! The *spare* segment is made ahead of time, so that a new segment costs no allocation while somebody waits for a commit. The
//! *reserve* is there for a disk that is full: what gives space back (acknowledgements, snapshots, segments that are
//! rewritten) needs some first. Where it finds none the reserve is given up, and nothing more should be taken in until it
//! has been made again. Neither file has a number or anything in it; what a crash leaves of them is used or made anew.
//!
//! Both have the size of a segment. While the first segment of a folder is still small, see [`super::growing`], so is the
//! reserve, and what is set aside next is more room in this segment and no spare one: all by the same parts of it.
//!
//! Setting aside may take long and is done beside the writer: it gives an order, somebody carries it out, and it is told.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ahead::Ahead;
use super::fill::{Claim, Fill};
use super::growing::Growing;
use super::room_order::{RoomMade, RoomOrder};
use super::state::Shared;
use super::writer::JournalWriter;
use crate::disk::{Access, Disk};
use crate::error::StoreError;

/// What is set aside, and whether that is enough.
#[derive(Debug)]
pub(crate) struct Room {
    /// Size of either file, in the end.
    segment_bytes: u64,
    /// The active segment is the first of the folder.
    growing: Option<Growing>,
    /// So many bytes come at once, a quarter of a segment at most.
    expected_bytes: u64,
    has_spare: bool,
    /// On the spare that was made last.
    claim: Claim,
    /// A spare is filled with zeros.
    is_filled: bool,
    /// Zeros in front of what is written, in a segment that was no spare.
    ahead: Option<Ahead>,
    /// Size of the reserve; 0: there is none.
    reserve_bytes: u64,
    /// The reserve was given up and has not been made again.
    is_given_up: bool,
    /// There was no space when something was to be set aside.
    is_short: bool,
    /// An order is being carried out.
    is_ordered: bool,
    /// The file system cannot reserve space.
    is_vain: bool,
}

/// How the active segment stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    pub end: u64,
    /// 0 where space cannot be reserved.
    pub allocated_bytes: u64,
}

pub(super) fn spare_path(dir: &Path) -> PathBuf {
    dir.join("spare")
}

pub(super) fn reserve_path(dir: &Path) -> PathBuf {
    dir.join("reserve")
}

impl Room {
    /// What an earlier life has set aside; `allocated_bytes`: reserved for the active segment.
    pub(crate) fn find(shared: &Shared, segment_bytes: u64, is_filled: bool, allocated_bytes: u64) -> Self {
        let growing = Growing::of_first(shared).filter(|_| allocated_bytes > 0);
        let scale_bytes = scale_of(growing.as_ref(), allocated_bytes, segment_bytes);
        Room {
            segment_bytes,
            growing,
            expected_bytes: 0,
            has_spare: find(&*shared.disk, &spare_path(&shared.dir), segment_bytes) > 0,
            claim: Claim::default(),
            is_filled,
            ahead: Ahead::of_first(shared).filter(|_| is_filled),
            reserve_bytes: find(&*shared.disk, &reserve_path(&shared.dir), scale_bytes),
            is_given_up: false,
            is_short: false,
            is_ordered: false,
            is_vain: false,
        }
    }

    /// There was no space for what should be set aside: nothing more should be taken in but what frees space in the end.
    pub(crate) fn is_low(&self) -> bool {
        self.is_short || self.is_given_up
    }

    /// What counts as a segment now: what is reserved of the active one while that grows.
    pub(crate) fn scale_bytes(&self, used: Used) -> u64 {
        scale_of(self.growing.as_ref(), used.allocated_bytes, self.segment_bytes)
    }

    /// So many bytes are on their way at once: room is made so that they are a quarter of it.
    pub(crate) fn expect(&mut self, bytes: u64) {
        self.expected_bytes = bytes.clamp(self.expected_bytes, self.segment_bytes / 4);
    }

    /// Half of the active segment is used and the next one is not there yet: what comes is faster than whoever makes it.
    pub(crate) fn is_late(&self, used: Used) -> bool {
        !self.has_spare && !self.is_vain && used.allocated_bytes > 0 && used.end * 2 >= self.scale_bytes(used)
    }

    pub(crate) fn has_spare(&self) -> bool {
        self.has_spare
    }

    /// The file for the next segment; from here on nobody else writes to it.
    pub(crate) fn take_spare(&self, dir: &Path) -> Option<PathBuf> {
        // Without one the claim is that of the next, which may be being made.
        self.has_spare.then(|| {
            self.claim.take_all();
            spare_path(dir)
        })
    }

    /// Records are about to reach up to `end` in the active segment.
    pub(crate) fn take(&self, end: u64) {
        if let Some(ahead) = &self.ahead {
            ahead.take(end);
        }
    }

    /// The active segment is written no more.
    pub(crate) fn seal(&mut self) {
        (self.ahead, self.growing) = (None, None);
    }

    /// The spare file has become a segment, or was tried to: it is gone, or still there.
    pub(crate) fn spare_used(&mut self, shared: &Shared) {
        self.has_spare = self.has_spare && find(&*shared.disk, &spare_path(&shared.dir), self.segment_bytes) > 0;
    }

    /// Frees the reserve, for what gives more back.
    pub(crate) fn give_up(&mut self, shared: &Shared) {
        if self.reserve_bytes > 0 && shared.disk.remove(&reserve_path(&shared.dir)).is_ok() {
            (self.reserve_bytes, self.is_given_up) = (0, true);
        }
    }

    /// A quarter of the active segment is used, or it began small: the next one is made. Early, as what is on its way to the
    /// log when there is no space for it has to find room in this one.
    pub(crate) fn is_due(&self, used: Used) -> bool {
        used.end * 4 >= self.scale_bytes(used) || self.growing.is_none() && used.allocated_bytes < self.segment_bytes
    }

    /// The size that the active segment should grow to, if it should: twice as much, again and again.
    fn growth(&self, used: Used) -> Option<u64> {
        let scale_bytes = self.scale_bytes(used);
        let is_small = scale_bytes < self.segment_bytes;
        let mut bytes = scale_bytes;
        while bytes < self.segment_bytes && used.end.max(self.expected_bytes) * 4 >= bytes {
            bytes *= 2;
        }
        (is_small && bytes > scale_bytes).then_some(bytes.min(self.segment_bytes))
    }

    fn order(&mut self, shared: &Arc<Shared>, used: Used) -> Option<RoomOrder> {
        if self.is_ordered || self.is_vain || used.allocated_bytes == 0 {
            return None;
        }
        let growth = self.growth(used);
        let scale_bytes = growth.unwrap_or(self.scale_bytes(used));
        let needs_spare = !self.has_spare && scale_bytes == self.segment_bytes && self.is_due(used);
        let needs_reserve = self.reserve_bytes < scale_bytes;
        let ahead = self.ahead.as_mut().and_then(|ahead| ahead.order(shared, used));
        let needs_space = needs_spare || needs_reserve || growth.is_some();
        self.is_short &= needs_space;
        if !needs_space && ahead.is_none() {
            return None;
        }
        self.is_ordered = true;
        // Just freed space is not taken from what is about to free more.
        let more_bytes = if self.is_given_up { scale_bytes / 4 } else { 0 };
        let (disk, dir) = (shared.disk.clone(), shared.dir.clone());
        let reserve = needs_reserve.then_some((scale_bytes, more_bytes));
        let grow = growth.and_then(|bytes| Some(self.growing.as_ref()?.order(bytes)));
        let spare = needs_spare.then_some(self.segment_bytes);
        let fill = spare.filter(|_| self.is_filled).map(|bytes| {
            self.claim = Claim::default();
            Fill::new(shared.clone(), spare_path(&dir), 0..bytes, self.claim.clone())
        });
        Some(RoomOrder { disk, dir, reserve, grow, spare, fill, ahead })
    }

    /// Returns how many bytes are reserved for the active segment now, where it has grown.
    fn made(&mut self, made: RoomMade) -> Result<Option<u64>, StoreError> {
        (self.is_ordered, self.is_short) = (false, false);
        let mut grown_bytes = None;
        if let Some((bytes, reserve)) = made.reserve
            && self.is_there(reserve)?
        {
            (self.reserve_bytes, self.is_given_up) = (bytes, false);
        }
        if let Some(grown) = made.grown {
            // What has been sealed meanwhile does not grow.
            let is_there = self.is_there(grown.result)?;
            grown_bytes = (is_there && self.growing.is_some()).then_some(grown.bytes);
        }
        if let Some(spare) = made.spare {
            self.has_spare = self.is_there(spare)?;
        }
        Ok(grown_bytes)
    }

    fn is_there(&mut self, made: Result<bool, StoreError>) -> Result<bool, StoreError> {
        match made {
            Ok(made) => {
                self.is_vain |= !made;
                Ok(made)
            }
            Err(error) if error.is_retryable() => {
                self.is_short = true;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

impl JournalWriter {
    /// What should be set aside now, if anything should and no order is being carried out. Ask after each commit, and from time to
    /// time while the journal is low on space.
    pub fn room_order(&mut self) -> Option<RoomOrder> {
        let used = self.segment.used(&self.shared);
        self.segment.room.order(&self.shared, used)
    }

    /// An order was carried out. A full disk is no error: see [`JournalWriter::is_low_on_space`].
    ///
    /// # Errors
    /// `WriteFailed`: fatal.
    pub fn room_made(&mut self, made: RoomMade) -> Result<(), StoreError> {
        self.check_running()?;
        let made = self.segment.room.made(made);
        let grown_bytes = self.note(made)?;
        self.segment.grown(grown_bytes);
        Ok(())
    }

    /// What counts as a segment for what may be on its way at once: the size of one, or what is reserved of the first one,
    /// which begins small.
    pub fn scale_bytes(&self) -> u64 {
        self.segment.room.scale_bytes(self.segment.used(&self.shared))
    }

    /// So many bytes are on their way at once: a first segment that is small for them grows beforehand.
    pub fn expect(&mut self, bytes: u64) {
        self.segment.room.expect(bytes);
    }

    /// Sets aside what should be, here and now: for those who have no thread for it.
    ///
    /// # Errors
    /// As [`JournalWriter::room_made`].
    pub fn make_room(&mut self) -> Result<(), StoreError> {
        match self.room_order() {
            Some(order) => self.room_made(order.carry_out()),
            None => Ok(()),
        }
    }

    /// Frees the reserve: somebody beside the journal has found no space for what will give some back, such as a snapshot.
    pub fn give_up_reserve(&mut self) {
        self.segment.room.give_up(&self.shared);
    }
}

fn scale_of(growing: Option<&Growing>, allocated_bytes: u64, segment_bytes: u64) -> u64 {
    growing.map_or(segment_bytes, |_| allocated_bytes.min(segment_bytes))
}

/// The size of the file, if it is at least this; a smaller one is removed, and what is none, and 0.
fn find(disk: &dyn Disk, file: &Path, bytes: u64) -> u64 {
    match disk.open(file, Access::Read).and_then(|handle| handle.bytes()) {
        Ok(found) if found >= bytes => return found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return 0,
        Ok(_) | Err(_) => {}
    }
    // It is made anew; what cannot be removed is written over then.
    let _ = disk.remove(file);
    0
}
