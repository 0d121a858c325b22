//! Giving up what is damaged in a segment, and nothing else.

use std::path::{Path, PathBuf};

use super::area::{FILLER_BYTES, Order, not_mendable};
use super::folder::DataFolder;
use super::report::{FileKind, Home, KnownFile};
use super::subject::Subject;
use crate::disk::{Access, Disk};
use crate::error::StoreError;
use crate::journal::DataGroupIndex;
use crate::record::{LIFETIME_JOURNAL, LIFETIME_KEPT, record_bytes};

/// What is lost of a segment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loss {
    /// Bytes that could not be read.
    pub bytes: u64,
    /// Entries, or messages of a stream, that are gone.
    pub ranges: Vec<LostRange>,
    /// Entries behind the last readable one may be lost too, and nothing says how many.
    pub is_open_ended: bool,
    /// What stands where a record was, unverified: it may say whose it was.
    pub remains: Vec<Remains>,
}

/// Consecutive ones of one partition, or of one data group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostRange {
    /// The partition, or the data group.
    pub partition: u32,
    /// The first offset or index.
    pub first: u64,
    /// The last one.
    pub last: u64,
}

/// The body of a damaged record whose length could still be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remains {
    /// What its header says: the partition, or the data group.
    pub partition: u32,
    /// Its bytes, some of which are wrong.
    pub body: Vec<u8>,
}

impl DataFolder {
    /// Writes a damaged segment anew without what cannot be read of it. What is lost is passed over by readers of a stream;
    /// in the journal, an entry with a body that `filler` makes, of exactly so many bytes, takes each lost one's place.
    /// `None`: the segment is whole.
    ///
    /// # Errors
    /// `NotMendable`: its opening is damaged, or what is left does not fit together; nothing changed. `Full`, `Io`, and the
    /// fatal ones.
    pub fn accept_loss(
        &self,
        disk: &dyn Disk,
        file: &KnownFile,
        filler: &dyn Fn(usize) -> Vec<u8>,
    ) -> Result<Option<Loss>, StoreError> {
        let subject = self.subject(disk, file)?;
        let Some(area) = subject.area(filler)? else { return Ok(None) };
        if file.home == Home::Journal && subject.end.is_none() {
            self.check_list(&subject.path)?;
        }
        let mut loss = subject.loss(&area)?;
        let (from, until, salt) = (area.from, area.until, subject.start.salt);
        let built = area.build(salt).map_err(|why| not_mendable(&subject.path, why))?;
        loss.ranges.extend(built.lost);
        // Where all bytes are accounted for, nothing else was there.
        loss.is_open_ended &= subject.order == Order::Kept || built.spare_bytes >= record_bytes(FILLER_BYTES) as u64;
        subject.replace(disk, (from, until), &built.bytes)?;
        Ok(Some(loss))
    }

    /// The segment being written says which others count. Where that does not fit the files, what says so may be lost too,
    /// and a start would remove what compaction has just kept.
    fn check_list(&self, path: &Path) -> Result<(), StoreError> {
        let Some(view) = &self.journal else { return Ok(()) };
        let is_listed = |file: &KnownFile| view.listed().any(|segment| segment.0 == file.number);
        let mut segments = self.files().iter().filter(|file| file.home == Home::Journal);
        let is_wrong = |file: &KnownFile| match file.kind {
            FileKind::Kept => file.is_missing || !is_listed(file),
            FileKind::Segment => file.is_missing,
            _ => false,
        };
        match segments.any(is_wrong) {
            true => Err(not_mendable(
                path,
                "it may have said which segments count, and the files do not fit the rest of it",
            )),
            false => Ok(()),
        }
    }

    fn subject(&self, disk: &dyn Disk, file: &KnownFile) -> Result<Subject, StoreError> {
        let path = self.dir.join(&file.path);
        let refuse = |why: String| not_mendable(&path, why);
        if file.is_missing {
            return Err(refuse("the file is missing".into()));
        }
        match (file.home, file.kind) {
            (Home::Stream(place), FileKind::Segment) => self.stream_subject(disk, place, file.number, path.clone()),
            (Home::Journal, FileKind::Segment) => {
                self.journal_subject(disk, file.number, LIFETIME_JOURNAL, path.clone())
            }
            (Home::Journal, FileKind::Kept) => self.journal_subject(disk, file.number, LIFETIME_KEPT, path.clone()),
            (_, kind) => Err(refuse(format!("it is no segment ({})", kind.name()))),
        }
        .map_err(|error| match error {
            StoreError::Corrupt { what, .. } => refuse(format!("its opening is damaged ({what})")),
            other => other,
        })
    }

    fn stream_subject(&self, disk: &dyn Disk, place: usize, number: u64, path: PathBuf) -> Result<Subject, StoreError> {
        let view = &self.streams[place];
        let (start, start_bytes) = view.start(disk, number)?;
        let following = view.following(disk, number).transpose()?;
        let file = disk.open(&path, Access::Read).map_err(|error| StoreError::io("open", &path, error))?;
        let partitions = start.partitions.len();
        let after = match &following {
            Some(next) => next.partitions.iter().map(|partition| Some(partition.first_offset)).collect(),
            None => vec![None; partitions],
        };
        let end = following.map(|next| next.previous_end);
        let (order, raft_indexes) = (Order::Stream, vec![]);
        Ok(Subject { file, path, start, start_bytes, end, order, raft_indexes, partitions, after, kept: None })
    }

    fn journal_subject(
        &self,
        disk: &dyn Disk,
        number: u64,
        lifetime: u8,
        path: PathBuf,
    ) -> Result<Subject, StoreError> {
        let Some(view) = &self.journal else { return Err(not_mendable(&path, "there is no journal")) };
        let is_active = view.active() == Some(number) && lifetime == LIFETIME_JOURNAL;
        let end = view.end_of(number).filter(|_| !is_active);
        if end.is_none() && !is_active {
            return Err(not_mendable(&path, "the journal does not count it"));
        }
        if is_active && view.listed().next().is_none() && view.young.len() > 1 {
            return Err(not_mendable(&path, "it does not say which segments there are"));
        }
        let (file, opening) = view.open(disk, number, lifetime)?;
        // And the journal's own records.
        let partitions = opening.layout.partitions();
        let mut after = vec![None; partitions];
        let sidecar = view.sidecar(disk, number).ok();
        if let Some(index) = &sidecar {
            let starts = opening.start.partitions.iter().map(|partition| partition.first_offset);
            for ((after, group), first) in after.iter_mut().zip(&index.groups).zip(starts) {
                *after = Some(group.stretches.last().map_or(first, |stretch| stretch.last + 1));
            }
        } else if let Ok((_, next)) = view.open(disk, number + 1, LIFETIME_JOURNAL) {
            for (after, partition) in after.iter_mut().zip(&next.start.partitions) {
                *after = Some(partition.first_offset);
            }
        }
        let (order, kept) = match lifetime == LIFETIME_KEPT {
            true => (Order::Kept, sidecar.map(|index| index.groups.iter().map(places).collect())),
            false => (Order::Journal, None),
        };
        let groups = opening.checkpoint.map_or(vec![], |checkpoint| checkpoint.groups);
        let raft_indexes = groups.iter().map(|group| group.raft.last).collect();
        let (start, start_bytes) = (opening.start, opening.start_bytes);
        Ok(Subject { file, path, start, start_bytes, end, order, raft_indexes, partitions, after, kept })
    }
}

/// All places of a group in a segment.
fn places(group: &DataGroupIndex) -> Vec<u64> {
    group.stretches.iter().flat_map(|stretch| stretch.entries().map(|entry| entry.0).collect::<Vec<_>>()).collect()
}
