//! The records of the journal, or of a stream, as they lie in the files: for people who want to see them.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use super::folder::DataFolder;
use super::report::{FileKind, Finding, Home, KnownFile};
use super::salvage::{Piece, salvage};
use crate::disk::{Access, Disk, DiskFile};
use crate::error::StoreError;
use crate::journal::segment_path;
use crate::record::{RecordHeader, RecordKind, SegmentStart};
use crate::scan::Walked;
use crate::segment_file::read_start;

/// Whose records are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordSource {
    /// Of the data groups.
    Journal,
    /// Of the stream of this name.
    Stream(String),
}

/// One record, or a place where none can be read.
#[derive(Debug, Clone)]
pub struct DumpRecord {
    /// The file, from the data folder on.
    pub segment: PathBuf,
    /// Where in it.
    pub at: u64,
    /// How many bytes of it.
    pub bytes: u64,
    /// `data`, `lost`, `vote`, `truncation`, `purge`, `replaced`, `stretch`, `marker`; `damage`: nothing can be read here.
    pub kind: &'static str,
    /// The partition, or the data group.
    pub partition: u32,
    /// The index of an entry, the Raft index of a marker, or the offset of a message.
    pub index: u64,
    /// The term of an entry.
    pub term: u64,
    /// The slot that the appender gave.
    pub slot: u16,
    /// The id that the appender gave.
    pub message_id: u64,
    /// Microseconds since the epoch.
    pub appended_at_us: i64,
    /// The bytes that the appender gave; of damage, words.
    pub body: Vec<u8>,
}

/// Records in the order of the files.
#[derive(Debug)]
pub struct Records {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    of_stream: bool,
    parts: VecDeque<Part>,
    current: Option<Reading>,
}

/// A segment to read.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    /// It is being written: behind its last record lies nothing.
    is_active: bool,
}

/// One that is being read.
#[derive(Debug)]
struct Reading {
    part: Part,
    full: PathBuf,
    file: Arc<dyn DiskFile>,
    start: SegmentStart,
    at: u64,
    limit: u64,
}

impl DataFolder {
    /// All records of one source.
    ///
    /// # Errors
    /// `NoStream`: names those there are.
    pub fn records(&self, source: &RecordSource) -> Result<Records, StoreError> {
        let parts = match source {
            RecordSource::Journal => self.journal_parts(),
            RecordSource::Stream(name) => self.stream_parts(name)?,
        };
        let of_stream = *source != RecordSource::Journal;
        Ok(Records { disk: self.disk.clone(), dir: self.dir.clone(), of_stream, parts: parts.into(), current: None })
    }

    fn stream_parts(&self, name: &str) -> Result<Vec<Part>, StoreError> {
        let place = self.streams.iter().position(|stream| stream.name == name);
        let known = || self.streams().map(str::to_owned).collect();
        let place = place.ok_or_else(|| StoreError::NoStream { name: name.to_owned(), known: known() })?;
        let last = self.streams[place].sequences.last();
        let of_stream = self.files().iter().filter(|file| file.home == Home::Stream(place) && !file.is_missing);
        let segments = of_stream.filter(|file| file.kind == FileKind::Segment);
        Ok(segments.map(|file| Part { path: file.path.clone(), is_active: Some(&file.number) == last }).collect())
    }

    fn journal_parts(&self) -> Vec<Part> {
        let Some(journal) = &self.journal else { return vec![] };
        if !journal.is_listing() {
            return self.all_parts(journal.active());
        }
        let folder = PathBuf::from("log");
        let path = |(number, listed): (u64, crate::journal::Listed)| segment_path(&folder, number, listed.lifetime);
        let sealed = journal.listed().map(|segment| Part { path: path(segment), is_active: false });
        let active = journal.active().map(|number| crate::segment_file::log_path(&folder, number));
        sealed.chain(active.map(|path| Part { path, is_active: true })).collect()
    }

    /// Every segment of the journal that there is, by number: where nothing says which count, some may have been given up.
    fn all_parts(&self, active: Option<u64>) -> Vec<Part> {
        let is_segment = |kind| matches!(kind, FileKind::Segment | FileKind::Kept);
        let of_journal = self.files().iter().filter(|file| file.home == Home::Journal && !file.is_missing);
        let segments = of_journal.filter(|file| is_segment(file.kind));
        let is_active = |file: &KnownFile| file.kind == FileKind::Segment && Some(file.number) == active;
        segments.map(|file| Part { path: file.path.clone(), is_active: is_active(file) }).collect()
    }
}

impl Records {
    /// The next records, at most about so many; none: that was all.
    ///
    /// # Errors
    /// `Io`.
    pub fn read_some(&mut self, most: usize) -> Result<Vec<DumpRecord>, StoreError> {
        let mut found = vec![];
        while found.len() < most {
            match self.current.take() {
                Some(reading) => self.current = self.read_on(reading, most, &mut found)?,
                None => match self.parts.pop_front() {
                    Some(part) => self.begin(part, &mut found),
                    None => break,
                },
            }
        }
        Ok(found)
    }

    fn begin(&mut self, part: Part, found: &mut Vec<DumpRecord>) {
        let full = self.dir.join(&part.path);
        let opened = self.disk.open(&full, Access::Read).map_err(|error| StoreError::io("open", &full, error));
        let opened = opened.and_then(|file| {
            let (start, at) = read_start(&*file, &full)?;
            let limit = file.bytes().map_err(|error| StoreError::io("measure", &full, error))?;
            Ok((file, start, at, limit))
        });
        match opened {
            Ok((file, start, at, limit)) => {
                self.current = Some(Reading { part, full, file, start, at, limit });
            }
            Err(error) => found.push(DumpRecord::damage(part.path, (0, 0), &unopened(&error))),
        }
    }

    fn read_on(
        &self,
        mut reading: Reading,
        most: usize,
        found: &mut Vec<DumpRecord>,
    ) -> Result<Option<Reading>, StoreError> {
        let Reading { part, full, file, start, at, limit } = &mut reading;
        let walked = Walked { file: &**file, path: full, start, start_bytes: *at, limit: *limit };
        let of_stream = self.of_stream;
        *at = salvage(walked, *at, &mut |piece| {
            match piece {
                Piece::Record { at, bytes, header, body } => {
                    let kind = kind_name(header.kind);
                    let record = kind
                        .map(|kind| DumpRecord::of(part.path.clone(), (at, bytes), (kind, of_stream), &header, body));
                    found.extend(record);
                }
                Piece::Gap { until, .. } if part.is_active && until == *limit => {}
                Piece::Gap { from, until } => {
                    found.push(DumpRecord::damage(
                        part.path.clone(),
                        (from, until - from),
                        "no record can be read here",
                    ));
                }
            }
            if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok((reading.at < reading.limit).then_some(reading))
    }
}

/// Why nothing of a segment is told.
fn unopened(error: &StoreError) -> String {
    let what = Finding::of(error).what;
    match error {
        StoreError::Corrupt { .. } => {
            format!(
                "the opening is damaged ({what}), and nothing of the segment can be read without it: restore a backup"
            )
        }
        _ => what,
    }
}

/// The names of records that are not only there to hold others together.
fn kind_name(kind: RecordKind) -> Option<&'static str> {
    match kind {
        RecordKind::Data => Some("data"),
        RecordKind::Lost => Some("lost"),
        RecordKind::Vote => Some("vote"),
        RecordKind::Truncation => Some("truncation"),
        RecordKind::Purge => Some("purge"),
        RecordKind::Replaced => Some("replaced"),
        RecordKind::Stretch => Some("stretch"),
        RecordKind::Marker => Some("marker"),
        _ => None,
    }
}

impl DumpRecord {
    fn of(
        segment: PathBuf,
        (at, bytes): (u64, u64),
        (kind, of_stream): (&'static str, bool),
        header: &RecordHeader,
        body: &[u8],
    ) -> Self {
        let RecordHeader { partition, term, slot, message_id, appended_at_us, .. } = *header;
        let index = if of_stream || header.kind == RecordKind::Marker { header.offset } else { header.index };
        let body = body.to_vec();
        Self { segment, at, bytes, kind, partition, index, term, slot, message_id, appended_at_us, body }
    }

    fn damage(segment: PathBuf, (at, bytes): (u64, u64), what: &str) -> Self {
        let body = what.as_bytes().to_vec();
        let (partition, index, term, slot, message_id, appended_at_us) = (0, 0, 0, 0, 0, 0);
        Self { segment, at, bytes, kind: "damage", partition, index, term, slot, message_id, appended_at_us, body }
    }
}
