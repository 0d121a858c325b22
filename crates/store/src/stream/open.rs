//! Opening a stream's folder: make it, or find out how it stands.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use super::named_readers::NamedReaders;
use super::scan::StreamVisitor;
use super::state::{Active, Sealed, State, Stream};
use crate::beside::check_new_stream;
use crate::clock::now_us;
use crate::config::{LogConfig, StreamConfig};
use crate::disk::{self, Access, Disk};
use crate::error::StoreError;
use crate::identity::{new_salt, new_uuid};
use crate::index::SparseIndex;
use crate::info::StreamIndex;
use crate::meta_file::{self, meta_path, read_meta};
use crate::notice::Notice;
use crate::record::{LIFETIME_STREAM, PartitionStart, SegmentStart, StreamMeta};
use crate::recovery::recover;
use crate::segment_file::{self, log_path, read_start, sequence_of};

/// An open stream, and what the writer goes on with.
#[derive(Debug)]
pub(crate) struct Opened {
    pub stream: Stream,
    /// Bytes reserved for the active segment.
    pub allocated_bytes: u64,
    pub notices: Vec<Notice>,
}

/// Opens the stream in `dir`, making it when it is not there.
///
/// # Errors
/// `SettingChanged`, `Emptied`, `Corrupt`, `WrongKind`, `Full`, `Io`, and the fatal ones.
pub(crate) fn open(
    disk: &dyn Disk,
    dir: PathBuf,
    index: StreamIndex,
    log: &LogConfig,
    config: &StreamConfig,
) -> Result<Opened, StoreError> {
    disk.create_dir(&dir).map_err(|error| StoreError::io("make the folder", &dir, error))?;
    let sequences = tidy(disk, &dir)?;
    disk::sync_names(disk, &dir)?;
    let is_new = sequences.is_empty();
    let meta = meta(disk, &dir, config, is_new)?;
    let mut folder = Folder { disk, dir: &dir, meta: &meta, notices: vec![] };
    let (sealed, active, allocated_bytes) = match is_new {
        true => folder.first_segment(config)?,
        false => folder.segments(&sequences)?,
    };
    if is_new {
        meta_file::name(disk, &dir)?;
    }
    let mut readers = NamedReaders::new(log.readers_max, config.retain_age_ms);
    folder.restore_readers(&mut readers);
    let notices = folder.notices;
    let state = State { sealed, active, readers };
    let stream = Stream::new(index, meta.name, dir, meta.uuid, meta.partitions, state);
    Ok(Opened { stream, allocated_bytes, notices })
}

/// The numbers of the segments among the names in a stream's folder, ascending and without gaps; none in a new one.
///
/// # Errors
/// `Emptied`; `Corrupt`: one is missing.
fn sequences_in(dir: &Path, names: &[String]) -> Result<Vec<u64>, StoreError> {
    let mut sequences: Vec<u64> = names.iter().filter_map(|name| sequence_of(name, ".log")).collect();
    sequences.sort_unstable();
    if sequences.is_empty() {
        check_new_stream(dir, names)?;
    }
    match sequences.windows(2).find(|pair| pair[0] + 1 != pair[1]) {
        Some(pair) => Err(StoreError::corrupt(&log_path(dir, pair[0] + 1), 0, "the segment's file is missing")),
        None => Ok(sequences),
    }
}

/// Ends what a crash has cut short, removes drafts and indexes without a segment; returns the segments' numbers.
fn tidy(disk: &dyn Disk, dir: &Path) -> Result<Vec<u64>, StoreError> {
    let names = disk.list(dir).map_err(|error| StoreError::io("list", dir, error))?;
    let sequences = sequences_in(dir, &names)?;
    if !sequences.is_empty() && meta_file::is_cut_short(&names) {
        meta_file::name(disk, dir)?;
        return tidy(disk, dir);
    }
    let is_orphan = |name: &str| sequence_of(name, ".idx").is_some_and(|number| !sequences.contains(&number));
    for name in names.iter().filter(|name| name.ends_with(".tmp") || is_orphan(name)) {
        let file = dir.join(name);
        disk.remove(&file).map_err(|error| StoreError::io("remove", &file, error))?;
    }
    Ok(sequences)
}

/// What the stream was made as; a new one is made, under a new UUID.
fn meta(disk: &dyn Disk, dir: &Path, config: &StreamConfig, is_new: bool) -> Result<StreamMeta, StoreError> {
    if is_new {
        let (name, partitions) = (config.name.clone(), config.partitions);
        let meta = StreamMeta { uuid: new_uuid()?, partitions, name, created_at_us: now_us() };
        meta_file::draft(disk, dir, &meta)?;
        return Ok(meta);
    }
    let meta = read_meta(disk, &meta_path(dir))?;
    check_settings(&meta, config, dir)?;
    Ok(meta)
}

/// Partitions are fixed: keys would move to other partitions, and the order per key would break without a trace.
fn check_settings(meta: &StreamMeta, config: &StreamConfig, dir: &Path) -> Result<(), StoreError> {
    let changed = |key, old: String, new: String, remedy| {
        Err(StoreError::SettingChanged { stream: config.name.clone(), key, old, new, remedy })
    };
    if meta.partitions != config.partitions {
        let (old, new) = (meta.partitions.to_string(), config.partitions.to_string());
        let remedy = format!("set partitions = {old}, or give the stream another name, or delete {}", dir.display());
        return changed("partitions", old, new, remedy);
    }
    if meta.name != config.name {
        let remedy = format!("give the folder {} its old name back", dir.display());
        return changed("name", meta.name.clone(), config.name.clone(), remedy);
    }
    Ok(())
}

struct Folder<'f> {
    disk: &'f dyn Disk,
    dir: &'f Path,
    meta: &'f StreamMeta,
    notices: Vec<Notice>,
}

type Segments = (VecDeque<Sealed>, Active, u64);

impl Folder<'_> {
    fn first_segment(&mut self, config: &StreamConfig) -> Result<Segments, StoreError> {
        let partition = PartitionStart { first_offset: 0, previous_bytes: 0 };
        let start = SegmentStart {
            lifetime: LIFETIME_STREAM,
            uuid: self.meta.uuid,
            sequence: 1,
            salt: new_salt()?,
            allocated_bytes: 0,
            created_at_us: now_us(),
            previous_end: 0,
            previous_last_at_us: 0,
            partitions: vec![partition; self.meta.partitions as usize],
        };
        let new = segment_file::create(self.disk, self.dir, start, &[], config.small_segment_bytes(), None)?;
        let allocated_bytes = new.start.allocated_bytes;
        Ok((VecDeque::new(), Active::empty(new), allocated_bytes))
    }

    fn segments(&mut self, sequences: &[u64]) -> Result<Segments, StoreError> {
        let mut starts = vec![];
        for sequence in sequences {
            starts.push(self.start(*sequence)?);
        }
        let sealed: VecDeque<Sealed> = starts.windows(2).map(|pair| sealed_between(&pair[0].0, &pair[1].0)).collect();
        if let Some(last) = sealed.back() {
            self.cut_reserved(last);
        }
        let Some((start, start_bytes)) = starts.pop() else {
            return Err(StoreError::corrupt(self.dir, 0, "there is no segment"));
        };
        let path = log_path(self.dir, start.sequence);
        let mut scan = StreamVisitor::new(&start);
        let recovered = recover(self.disk, &path, &start, start_bytes, &mut scan)?;
        self.notices.extend(recovered.torn);
        let active = Active {
            sequence: start.sequence,
            file: recovered.file,
            path,
            salt: start.salt,
            start_bytes,
            created_at_us: start.created_at_us,
            end: recovered.end,
            times_us: scan.times_us,
            first: firsts(&start),
            next: scan.next,
            bytes: scan.bytes,
            index: scan.index,
        };
        Ok((sealed, active, recovered.allocated_bytes))
    }

    /// Reads an opening record and checks that it is this stream's.
    fn start(&self, sequence: u64) -> Result<(SegmentStart, u64), StoreError> {
        let path = log_path(self.dir, sequence);
        let file = self.disk.open(&path, Access::Read).map_err(|error| StoreError::io("open", &path, error))?;
        let (start, start_bytes) = read_start(&*file, &path)?;
        let partitions = start.partitions.len() as u64;
        if (start.uuid, start.sequence, partitions) != (self.meta.uuid, sequence, u64::from(self.meta.partitions)) {
            return Err(StoreError::corrupt(&path, 0, "the segment belongs to another stream or place"));
        }
        Ok((start, start_bytes))
    }

    /// Gives back what a sealed segment had reserved: a crash may have come before the writer did. Only saves space.
    fn cut_reserved(&mut self, sealed: &Sealed) {
        let file = log_path(self.dir, sealed.sequence);
        let cut = self.disk.open(&file, Access::Write).and_then(|handle| match handle.bytes()? > sealed.end {
            true => handle.set_len(sealed.end),
            false => Ok(()),
        });
        if let Err(error) = cut {
            self.notices.push(Notice::Postponed { file, why: error.to_string() });
        }
    }

    fn restore_readers(&mut self, readers: &mut NamedReaders) {
        let file = self.dir.join("readers");
        let why = match disk::read_whole(self.disk, &file, 16 << 20) {
            Ok(bytes) => readers.restore(&bytes, self.meta.partitions).err().map(|fault| fault.to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(error.to_string()),
        };
        self.notices.extend(why.map(|why| Notice::ReadersFile { file, why }));
    }
}

/// A sealed segment is described by its own opening record and by that of the one behind it.
fn sealed_between(start: &SegmentStart, following: &SegmentStart) -> Sealed {
    Sealed {
        sequence: start.sequence,
        end: following.previous_end,
        last_at_us: following.previous_last_at_us,
        first: firsts(start),
        bytes: following.partitions.iter().map(|partition| partition.previous_bytes).collect(),
    }
}

fn firsts(start: &SegmentStart) -> Box<[u64]> {
    start.partitions.iter().map(|partition| partition.first_offset).collect()
}

impl Active {
    /// A segment that was just made.
    pub(crate) fn empty(new: segment_file::NewSegment) -> Self {
        let first = firsts(&new.start);
        Self {
            sequence: new.start.sequence,
            file: new.file,
            path: new.path,
            salt: new.start.salt,
            start_bytes: new.start_bytes,
            created_at_us: new.start.created_at_us,
            end: new.start_bytes,
            times_us: None,
            next: first.to_vec(),
            bytes: vec![0; first.len()],
            index: SparseIndex::new(first.len()),
            first,
        }
    }
}
