//! A damaged segment: what of it can be read, and writing it anew.

use std::io::IoSlice;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::area::{Area, Books, Follower, Item, Order, not_mendable};
use super::look::{Look, Target, look};
use super::mend::{Loss, LostRange, Remains};
use super::report::Severity;
use super::salvage::{Piece, salvage};
use crate::disk::{Access, Disk, DiskFile};
use crate::error::StoreError;
use crate::journal::JournalVisitor;
use crate::record::{CommitBody, HEADER_BYTES, RecordKind, SegmentStart, peek_bytes, u32_at};
use crate::scan::{WalkEnd, Walked, search_tail, walk};
use crate::segment_file::index_path;
use crate::stream::scan::StreamVisitor;

/// The segment in question.
pub(super) struct Subject {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) path: PathBuf,
    pub(super) start: SegmentStart,
    pub(super) start_bytes: u64,
    pub(super) end: Option<u64>,
    pub(super) order: Order,
    /// By partition: the last Raft index before it, as far as that is known.
    pub(super) raft_indexes: Vec<u64>,
    /// Runs are of partitions below this.
    pub(super) partitions: usize,
    /// Per partition the place behind the segment's last, where that is known from elsewhere.
    pub(super) after: Vec<Option<u64>>,
    /// By partition: all places that its index says are in it, for one of kept entries.
    pub(super) kept: Option<Vec<Vec<u64>>>,
}

impl Subject {
    fn target(&self) -> Target<'_> {
        let Self { file, path, start, start_bytes, end, .. } = self;
        Target { file: &**file, path, start, start_bytes: *start_bytes, end: *end }
    }

    fn refuse(&self, why: &str) -> StoreError {
        not_mendable(&self.path, why)
    }

    /// Where the partitions begin.
    fn first_places(&self) -> Vec<u64> {
        let mut places: Vec<u64> = self.start.partitions.iter().map(|partition| partition.first_offset).collect();
        places.resize(self.partitions, 0);
        places
    }

    /// The part from the last whole commit before the first damage to the first one behind the last damage.
    pub(super) fn area<'a>(&self, filler: &'a dyn Fn(usize) -> Vec<u8>) -> Result<Option<Area<'a>>, StoreError> {
        let walked = self.target().walked()?;
        let mut follower = Follower::new(self.order, self.first_places(), self.raft_indexes.clone());
        let WalkEnd { end: from, stopped } = walk(walked, &mut follower)?;
        let cut_off = self.end.filter(|end| walked.limit < *end);
        let synced = match (stopped, self.end) {
            (None, _) if cut_off.is_none() => return Ok(None),
            (_, Some(end)) => end,
            (None, None) => return Ok(None),
            (Some((at, _)), None) => {
                let tail = search_tail(walked, from)?;
                if at >= tail.synced {
                    return Ok(None);
                }
                tail.synced
            }
        };
        let (mut gaps, until) = gaps(walked, from, synced)?;
        if let Some(end) = cut_off {
            gaps.push((walked.limit, end));
        }
        if gaps.is_empty() {
            return Err(self.refuse("its records can be read and do not fit together"));
        }
        // Behind the last gap of a sealed segment nothing may lie; one being written has a commit that vouches for it.
        let until = until.filter(|_| cut_off.is_none()).or(self.end);
        let until = until.ok_or_else(|| self.refuse("where the damage ends cannot be found"))?;
        let (items, counts) = self.items(walked, from, until)?;
        let behind = self.behind(walked, until)?;
        let after = self.places_behind(behind.firsts, &follower.books, &items, counts);
        let (before, reached) = (follower.books, behind.purged);
        Ok(Some(Area { order: self.order, from, until, before, after, reached, items, gaps, filler }))
    }

    /// The readable records of the area; and per partition how many there were, where it is one commit that says so.
    fn items(&self, walked: Walked<'_>, from: u64, until: u64) -> Result<(Vec<Item>, Option<CommitBody>), StoreError> {
        let (mut items, mut commit) = (vec![], None);
        let limit = until.min(walked.limit);
        salvage(Walked { limit, ..walked }, from, &mut |piece| {
            if let Piece::Record { at, bytes, header, body } = piece {
                let is_padding = header.kind == RecordKind::Lost && self.order.place(&header).is_none();
                match header.kind {
                    RecordKind::Commit if at == from => {
                        let whole = |body: &CommitBody| at + bytes + body.runs_bytes() == until;
                        commit = CommitBody::decode(body).ok().filter(whole);
                    }
                    RecordKind::Commit => {}
                    _ if is_padding => {}
                    _ => items.push(Item { at, header, body: body.to_vec() }),
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok((items, commit))
    }

    /// What follows the area in the segment.
    fn behind(&self, walked: Walked<'_>, until: u64) -> Result<Books, StoreError> {
        let mut behind = Follower::new(self.order, vec![0; self.partitions], vec![]);
        if until < walked.limit {
            walk(Walked { start_bytes: until, ..walked }, &mut behind)?;
        }
        Ok(behind.books)
    }

    /// Per partition the place behind the area, from the best that is known: what follows in the segment, what its index
    /// or the next segment says, or how many records the commit had.
    fn places_behind(
        &self,
        firsts: Vec<Option<u64>>,
        before: &Books,
        items: &[Item],
        commit: Option<CommitBody>,
    ) -> Vec<Option<u64>> {
        let mut after = firsts;
        for (partition, after) in after.iter_mut().enumerate() {
            if after.is_none() {
                *after = self.after[partition];
            }
            if after.is_none()
                && let Some(commit) = &commit
            {
                let run = commit.runs.iter().find(|run| run.partition as usize == partition);
                let of_run = items.iter().filter(|item| item.header.partition as usize == partition);
                let others = of_run.filter(|item| self.order.place(&item.header).is_none()).count() as u64;
                let places = run.map_or(0, |run| u64::from(run.records)).saturating_sub(others);
                *after = Some(before.next[partition] + places);
            }
        }
        after
    }

    /// What can be said of the loss without the area's new bytes.
    pub(super) fn loss(&self, area: &Area<'_>) -> Result<Loss, StoreError> {
        let bytes = area.gaps.iter().map(|gap| gap.1 - gap.0).sum();
        let mut of_appenders = area.after.iter().take(self.start.partitions.len());
        let is_open_ended = match self.order {
            Order::Kept => self.kept.is_none(),
            _ => of_appenders.any(Option::is_none),
        };
        let mut loss = Loss { bytes, is_open_ended, ..Loss::default() };
        for gap in &area.gaps {
            loss.remains.extend(self.remains(*gap)?);
        }
        if let Some(places) = &self.kept {
            let mut found: Vec<Vec<u64>> = vec![vec![]; self.partitions];
            salvage(self.target().walked()?, self.start_bytes, &mut |piece| {
                if let Piece::Record { header, .. } = piece
                    && let Some(place) = self.order.place(&header)
                    && let Some(found) = found.get_mut(header.partition as usize)
                {
                    found.push(place);
                }
                ControlFlow::Continue(())
            })?;
            for ((partition, places), found) in (0..).zip(places).zip(found) {
                let lost = places.iter().filter(|place| found.binary_search(place).is_err());
                loss.ranges.extend(lost.map(|place| LostRange { partition, first: *place, last: *place }));
            }
        }
        Ok(loss)
    }

    /// The body of the record that begins a gap, when its header says how long it is.
    fn remains(&self, (from, until): (u64, u64)) -> Result<Option<Remains>, StoreError> {
        const BYTES_MAX: u64 = 1 << 20;
        let mut bytes = vec![0; (until - from).min(BYTES_MAX) as usize];
        let read = self.file.read_at(&mut bytes, from).map_err(|error| StoreError::io("read", &self.path, error))?;
        bytes.truncate(read);
        let fits = peek_bytes(&bytes).is_ok_and(|total| total <= bytes.len());
        Ok(fits.then(|| {
            let body = bytes[HEADER_BYTES..HEADER_BYTES + u32_at(&bytes, 8) as usize].to_vec();
            Remains { partition: u32_at(&bytes, 20), body }
        }))
    }

    /// Writes the segment anew with these bytes in the area, looks whether it is whole, and lets it take the old one's name.
    /// Its index goes first: it is made again.
    pub(super) fn replace(&self, disk: &dyn Disk, area: (u64, u64), bytes: &[u8]) -> Result<(), StoreError> {
        debug_assert_eq!(bytes.len() as u64, area.1 - area.0);
        let draft = self.path.with_extension("tmp");
        let written = self.write(disk, &draft, area, bytes).and_then(|()| self.verify(disk, &draft));
        if let Err(error) = written {
            // What cannot be removed now is removed when the log is opened.
            let _ = disk.remove(&draft);
            return Err(error);
        }
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let sync = || disk.sync_dir(dir).map_err(|error| StoreError::sync("sync of the folder", dir, error));
        if disk.remove(&index_path(dir, self.start.sequence)).is_ok() {
            sync()?;
        }
        let named = disk.rename(&draft, &self.path);
        named.map_err(|error| StoreError::write("name a new segment", &self.path, error))?;
        sync()
    }

    fn write(&self, disk: &dyn Disk, draft: &Path, (from, until): (u64, u64), bytes: &[u8]) -> Result<(), StoreError> {
        let write = |error| StoreError::write("write anew", draft, error);
        let length = self.file.bytes().map_err(|error| StoreError::io("measure", &self.path, error))?;
        let length = self.end.unwrap_or(length);
        let out = disk.open(draft, Access::Create).map_err(|error| StoreError::make("make", draft, error))?;
        out.allocate(length).map_err(write)?;
        self.copy(&*out, draft, 0..from)?;
        out.write_at(&[IoSlice::new(bytes)], from).map_err(write)?;
        self.copy(&*out, draft, until..length)?;
        out.set_len(length).map_err(write)?;
        out.sync().map_err(|error| StoreError::sync("sync", draft, error))
    }

    fn copy(&self, out: &dyn DiskFile, draft: &Path, part: std::ops::Range<u64>) -> Result<(), StoreError> {
        let mut chunk = vec![0; 1 << 20];
        let mut at = part.start;
        while at < part.end {
            let wanted = (part.end - at).min(chunk.len() as u64) as usize;
            let read = self.file.read_at(&mut chunk[..wanted], at);
            let read = read.map_err(|error| StoreError::io("read", &self.path, error))?;
            if read == 0 {
                break;
            }
            let written = out.write_at(&[IoSlice::new(&chunk[..read])], at);
            written.map_err(|error| StoreError::write("write anew", draft, error))?;
            at += read as u64;
        }
        Ok(())
    }

    /// Whether a start will take it.
    fn verify(&self, disk: &dyn Disk, draft: &Path) -> Result<(), StoreError> {
        let file = disk.open(draft, Access::Read).map_err(|error| StoreError::io("open", draft, error))?;
        let target = Target { file: &*file, path: draft, ..self.target() };
        let Look { findings, .. } = match self.order {
            Order::Stream => {
                let mut visitor = StreamVisitor::new(&self.start);
                let found = look(target, &mut visitor)?;
                let ends = visitor.next.iter().zip(&self.after);
                if self.end.is_some() && ends.clone().any(|(next, after)| Some(*next) != *after) {
                    return Err(self.refuse("what is left of it does not end where the next segment begins"));
                }
                found
            }
            _ => look(target, &mut JournalVisitor::new(&self.start))?,
        };
        match findings.iter().find(|finding| finding.severity == Severity::Damage) {
            None => Ok(()),
            Some(finding) => Err(self.refuse(&format!("what is left of it does not fit together: {}", finding.what))),
        }
    }
}

/// Where nothing can be read of what was synced, and the first commit behind the last such place.
#[allow(clippy::type_complexity, reason = "two things that are found in one pass")]
fn gaps(walked: Walked<'_>, from: u64, synced: u64) -> Result<(Vec<(u64, u64)>, Option<u64>), StoreError> {
    let (mut gaps, mut until) = (vec![], None);
    salvage(walked, from, &mut |piece| match piece {
        Piece::Gap { from, .. } if from >= synced => ControlFlow::Break(()),
        Piece::Gap { from, until: end } => {
            gaps.push((from, end));
            until = None;
            ControlFlow::Continue(())
        }
        Piece::Record { at, header, .. } => {
            if header.kind == RecordKind::Commit && !gaps.is_empty() && until.is_none() {
                until = Some(at);
            }
            ControlFlow::Continue(())
        }
    })?;
    Ok((gaps, until))
}
