//! The map of all entries, built from the indexes of the segments when the journal is opened.

use std::collections::BTreeMap;
use std::path::Path;

use super::index::SegmentIndex;
use super::manifest::Listed;
use super::map::{EntryMap, Held};
use super::sealed::SealedFile;
use super::sidecar::Detail;
use super::tail::Tail;
use crate::disk::{Access, Disk};
use crate::error::StoreError;
use crate::info::StreamUuid;
use crate::notice::Notice;
use crate::record::LIFETIME_KEPT;

/// Where the segments are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segments<'s> {
    pub disk: &'s dyn Disk,
    pub dir: &'s Path,
    pub uuid: StreamUuid,
    pub salt: u32,
    /// Those that count, the active one excepted.
    pub listed: &'s BTreeMap<u64, Listed>,
}

/// A map that grows segment by segment.
#[derive(Debug)]
struct Growing {
    map: EntryMap,
}

/// The map of all entries: segments in the order in which they were written, because a later one may make entries of an
/// earlier one void; segments of kept entries last, because nothing makes those void. `active`: the path, number and
/// index of the segment being written.
///
/// # Errors
/// `Corrupt` (also when an entry is missing that replay needs), `Io`.
pub(crate) fn build_map(
    segments: Segments<'_>,
    active: (&Path, u64, &SegmentIndex),
    tails: &[Tail],
    notices: &mut Vec<Notice>,
) -> Result<EntryMap, StoreError> {
    let mut growing = Growing { map: EntryMap::new() };
    growing.add_sealed(segments, |lifetime| lifetime != LIFETIME_KEPT, notices)?;
    let (path, sequence, index) = active;
    growing.add(path, sequence, index)?;
    growing.add_sealed(segments, |lifetime| lifetime == LIFETIME_KEPT, notices)?;
    growing.finish(path, tails)
}

/// The file is there and whole at its ends; what a crash left reserved behind its end is given back.
fn check_file(sealed: &SealedFile<'_>, path: &Path, notices: &mut Vec<Notice>) -> Result<(), StoreError> {
    let (file, _) = sealed.open().map_err(|error| match error {
        StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            StoreError::corrupt(path, 0, "the segment's file is missing")
        }
        other => other,
    })?;
    let bytes = file.bytes().map_err(|error| StoreError::io("measure", path, error))?;
    if bytes > sealed.listed.end {
        let cut = sealed.disk.open(path, Access::Write).and_then(|file| file.set_len(sealed.listed.end));
        notices.extend(cut.err().map(|error| Notice::Postponed { file: path.to_path_buf(), why: error.to_string() }));
    }
    Ok(())
}

impl Growing {
    fn add_sealed(
        &mut self,
        segments: Segments<'_>,
        is_wanted: impl Fn(u8) -> bool,
        notices: &mut Vec<Notice>,
    ) -> Result<(), StoreError> {
        let Segments { disk, dir, uuid, salt, listed } = segments;
        for (sequence, listed) in listed.iter().filter(|segment| is_wanted(segment.1.lifetime)) {
            let sealed = SealedFile { disk, dir, uuid, salt, sequence: *sequence, listed: *listed };
            let path = sealed.path();
            check_file(&sealed, &path, notices)?;
            let (index, said) = sealed.index(Detail::Stretches)?;
            notices.extend(said);
            self.add(&path, *sequence, &index)?;
        }
        Ok(())
    }

    /// Takes in what one segment holds and what it makes void.
    fn add(&mut self, path: &Path, sequence: u64, index: &SegmentIndex) -> Result<(), StoreError> {
        for (place, group) in index.groups.iter().enumerate() {
            if let Some(from) = group.cut_from {
                self.map.truncate(place, from);
            }
            for stretch in &group.stretches {
                let held = Held { first: stretch.first, last: stretch.last, sequence };
                if !self.map.insert(place, held) {
                    let what = format!("entries {}..={} of data group {place} are there twice", held.first, held.last);
                    return Err(StoreError::corrupt(path, 0, what));
                }
            }
        }
        Ok(())
    }

    /// The map, once every entry that replay needs is known to be there.
    fn finish(self, path: &Path, tails: &[Tail]) -> Result<EntryMap, StoreError> {
        for (place, tail) in tails.iter().enumerate() {
            let mut next = tail.purged + 1;
            while next <= tail.last {
                match self.map.at_or_behind(place, next).filter(|held| held.first <= next) {
                    Some(held) => next = held.last + 1,
                    None => {
                        let what = format!("entry {next} of data group {place} is in no segment");
                        return Err(StoreError::corrupt(path, 0, what));
                    }
                }
            }
        }
        Ok(self.map)
    }
}
