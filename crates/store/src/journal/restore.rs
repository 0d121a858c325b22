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

/// A map that grows segment by segment.
#[derive(Debug)]
pub(crate) struct Growing {
    map: EntryMap,
}

/// Takes in all sealed segments: kept entries first, because nothing that comes later makes them void.
///
/// # Errors
/// `Corrupt`, `Io`.
pub(crate) fn build_map(
    disk: &dyn Disk,
    dir: &Path,
    (uuid, salt): (StreamUuid, u32),
    segments: &BTreeMap<u64, Listed>,
    notices: &mut Vec<Notice>,
) -> Result<Growing, StoreError> {
    let mut growing = Growing { map: EntryMap::new() };
    let is_kept = |listed: &Listed| listed.lifetime == LIFETIME_KEPT;
    let kept = segments.iter().filter(|segment| is_kept(segment.1));
    for (sequence, listed) in kept.chain(segments.iter().filter(|segment| !is_kept(segment.1))) {
        let sealed = SealedFile { disk, dir, uuid, salt, sequence: *sequence, listed: *listed };
        let path = sealed.path();
        check_file(&sealed, &path, notices)?;
        let (index, said) = sealed.index(Detail::Stretches)?;
        notices.extend(said);
        growing.add(&path, *sequence, &index)?;
    }
    Ok(growing)
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
    /// Takes in what one segment holds and what it makes void.
    ///
    /// # Errors
    /// `Corrupt`.
    pub(crate) fn add(&mut self, path: &Path, sequence: u64, index: &SegmentIndex) -> Result<(), StoreError> {
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
    ///
    /// # Errors
    /// `Corrupt`.
    pub(crate) fn finish(self, path: &Path, tails: &[Tail]) -> Result<EntryMap, StoreError> {
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
