//! The files in the journal's folder, as they are found when it is opened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::manifest::Listed;
use super::state::segment_path;
use crate::beside::check_new_journal;
use crate::disk::Disk;
use crate::error::StoreError;
use crate::meta_file;
use crate::notice::Notice;
use crate::record::{LIFETIME_JOURNAL, LIFETIME_KEPT};
use crate::segment_file::{index_path, log_path, sequence_of};

/// Which numbers segment files and indexes have.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Segments as they come.
    pub young: BTreeSet<u64>,
    /// Segments of kept entries.
    pub kept: BTreeSet<u64>,
    indexes: BTreeSet<u64>,
}

/// Ends what a crash has cut short, and removes drafts; lists the rest.
///
/// # Errors
/// `Emptied`; `Corrupt`: the segment that is written is gone; `Io`, and the fatal ones.
pub(crate) fn tidy(disk: &dyn Disk, data: &Path, dir: &Path) -> Result<Files, StoreError> {
    let list = |dir: &Path| disk.list(dir).map_err(|error| StoreError::io("list", dir, error));
    let names = list(dir)?;
    let files = Files::among(&names);
    if files.is_empty() {
        check_new_journal(dir, &names, &list(data)?)?;
    } else if files.young.is_empty() {
        return Err(StoreError::corrupt(&log_path(dir, 1), 0, "the segment being written is missing"));
    }
    if !files.is_empty() && meta_file::is_cut_short(&names) {
        meta_file::name(disk, dir)?;
        return tidy(disk, data, dir);
    }
    for name in names.iter().filter(|name| name.ends_with(".tmp")) {
        let file = dir.join(name);
        disk.remove(&file).map_err(|error| StoreError::io("remove", &file, error))?;
    }
    Ok(files)
}

impl Files {
    fn among(names: &[String]) -> Self {
        let mut files = Self::default();
        for name in names {
            files.young.extend(sequence_of(name, ".log"));
            files.kept.extend(sequence_of(name, ".kept"));
            files.indexes.extend(sequence_of(name, ".idx"));
        }
        files
    }

    /// Nothing was ever kept here.
    pub(crate) fn is_empty(&self) -> bool {
        self.young.is_empty() && self.kept.is_empty()
    }

    /// Removes segments that the journal gave up, or never took in, before a crash; also indexes without a segment.
    ///
    /// # Errors
    /// `Io`; `SyncFailed`: fatal.
    pub(crate) fn remove_others(
        &self,
        disk: &dyn Disk,
        dir: &Path,
        segments: &BTreeMap<u64, Listed>,
        active: u64,
    ) -> Result<Vec<Notice>, StoreError> {
        let mut notices = vec![];
        let young = self.young.iter().map(|sequence| (*sequence, LIFETIME_JOURNAL));
        for (sequence, lifetime) in young.chain(self.kept.iter().map(|sequence| (*sequence, LIFETIME_KEPT))) {
            let is_listed = segments.get(&sequence).is_some_and(|listed| listed.lifetime == lifetime);
            if is_listed || sequence == active && lifetime == LIFETIME_JOURNAL {
                continue;
            }
            let file = segment_path(dir, sequence, lifetime);
            disk.remove(&file).map_err(|error| StoreError::io("remove", &file, error))?;
            notices.push(Notice::LeftOver { file });
        }
        for sequence in self.indexes.iter().filter(|sequence| !segments.contains_key(sequence)) {
            let file = index_path(dir, *sequence);
            disk.remove(&file).map_err(|error| StoreError::io("remove", &file, error))?;
        }
        if !notices.is_empty() {
            // Its number may be given again: the old name must not come back.
            disk.sync_dir(dir).map_err(|error| StoreError::sync("sync of the folder", dir, error))?;
        }
        Ok(notices)
    }
}
