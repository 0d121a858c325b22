//! Reading: from any thread, never more than what is synced.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::clock::now_us;
use crate::error::StoreError;
use crate::info::{ReadLimits, ReadOutcome, RecordView, StreamIndex, StreamInfo};
use crate::notice::{Notice, StoreCounters};
use crate::shared::Shared;
use crate::stream::named_readers::{ReadBy, Refused};
use crate::stream::sealed;
use crate::stream::state::{Place, Stream};
use crate::stream::walk::{Cursor, Walk};

/// A handle to every stream. Cheap to clone; used by any number of threads beside the writer, and after it.
#[derive(Debug, Clone)]
pub struct LogReader {
    shared: Arc<Shared>,
}

impl LogReader {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Every stream, in the order of the configuration.
    pub fn streams(&self) -> Vec<StreamInfo> {
        self.shared.streams.iter().map(Stream::info).collect()
    }

    /// The stream of this name.
    ///
    /// # Errors
    /// `NoStream`, which names those there are.
    pub fn stream(&self, name: &str) -> Result<StreamInfo, StoreError> {
        let found = self.shared.streams.iter().find(|stream| stream.name == name);
        found.map(Stream::info).ok_or_else(|| self.shared.no_stream(name))
    }

    /// Hands records `from..` of a partition to `each`, in order, until a limit, the end, or `Break`.
    ///
    /// `reader`: a name under which the position is remembered: everything before `from` counts as read by it.
    /// A record on which `each` breaks was handed over and counts. Damage ends a read early; the next one, which begins
    /// at it, says so: every record before it can be read.
    ///
    /// # Errors
    /// `Trimmed` (below the first offset), `BeyondEnd`, `NoStream`, `NoPartition`, `ReaderName`, `TooManyReaders`: the
    /// caller's. `Corrupt`, `Io`: the log's.
    pub fn read(
        &self,
        stream: StreamIndex,
        partition: u32,
        from: u64,
        limits: ReadLimits,
        reader: Option<&str>,
        each: &mut impl FnMut(RecordView<'_>) -> ControlFlow<()>,
    ) -> Result<ReadOutcome, StoreError> {
        self.read_by(stream, partition, from, limits, reader.map(ReadBy::itself), each)
    }

    /// As [`LogReader::read`], for somebody whose names are not others'.
    ///
    /// # Errors
    /// Those, and `ReaderTaken`: the name is somebody else's.
    pub fn read_by(
        &self,
        stream: StreamIndex,
        partition: u32,
        from: u64,
        limits: ReadLimits,
        reader: Option<ReadBy<'_>>,
        each: &mut impl FnMut(RecordView<'_>) -> ControlFlow<()>,
    ) -> Result<ReadOutcome, StoreError> {
        let stream = self.by_index(stream)?;
        let (first_offset, end_offset) = bounds(stream, partition, from)?;
        if let Some(by) = reader {
            self.touch(stream, by, partition, from)?;
        }
        let (next, until) = (from, end_offset);
        let mut cursor = Cursor { partition, next, until, limits, messages: 0, bytes: 0, done: false, lost: None };
        while cursor.wants_more() {
            let before = cursor.next;
            if let Err(error) = self.read_segment(stream, &mut cursor, each) {
                let error = self.explain(stream, partition, &cursor, error);
                // A message or two before the damage are worth having; whoever comes back for more meets it.
                if cursor.next == from {
                    return Err(error);
                }
                break;
            }
            debug_assert!(cursor.done || cursor.next > before, "a segment that holds an offset hands it over");
        }
        if let Some((offset, messages)) = cursor.lost
            && self.shared.met.is_new(&stream.name, partition, offset)
        {
            self.shared.notice(Notice::GivenUp { stream: stream.name.clone(), partition, offset, messages });
        }
        StoreCounters::add(&self.shared.counters.read_records, cursor.messages);
        let Cursor { messages, bytes, next: next_offset, .. } = cursor;
        Ok(ReadOutcome { messages, bytes, next_offset, first_offset, end_offset })
    }

    /// Forgets a named reader; true when there was one.
    pub fn forget_reader(&self, stream: StreamIndex, name: &str) -> bool {
        self.by_index(stream).is_ok_and(|stream| stream.state().readers.forget(name))
    }

    /// Takes what the log has to say since the last call: what recovery found, indexes rebuilt, alarms.
    pub fn take_notices(&self) -> Vec<Notice> {
        self.shared.notices.take()
    }

    /// Counters since the log was opened.
    pub fn counters(&self) -> &StoreCounters {
        &self.shared.counters
    }

    fn by_index(&self, stream: StreamIndex) -> Result<&Stream, StoreError> {
        let found = self.shared.streams.get(stream.0 as usize);
        found.ok_or_else(|| self.shared.no_stream(&format!("#{}", stream.0)))
    }

    fn touch(&self, stream: &Stream, by: ReadBy<'_>, partition: u32, from: u64) -> Result<(), StoreError> {
        let touched = stream.state().readers.touch(by, partition, from, now_us() / 1000);
        touched.map_err(|refused| match refused {
            Refused::Name => StoreError::ReaderName { name: by.name.to_owned() },
            Refused::Taken => StoreError::ReaderTaken { stream: stream.name.clone(), name: by.name.to_owned() },
            Refused::Full => {
                StoreError::TooManyReaders { stream: stream.name.clone(), readers_max: self.shared.readers_max }
            }
        })
    }

    /// Reads on in the one segment that holds the cursor's next offset.
    fn read_segment(
        &self,
        stream: &Stream,
        cursor: &mut Cursor,
        each: &mut impl FnMut(RecordView<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let wanted = cursor.next;
        let place = stream.state().locate(cursor.partition, wanted);
        let (path, end) = match place {
            Place::Active { file, path, salt, from, end } => {
                Walk::new(&*file, &path, salt, from, end).advance(cursor, each)?;
                (path, end)
            }
            Place::Sealed { sequence, end } => {
                let segment = sealed::open(&self.shared, stream, sequence, end)?;
                let from = segment.index.seek(cursor.partition, wanted).map_or(segment.start_bytes, |e| e.position);
                Walk::new(&*segment.file, &segment.path, segment.salt, from, end).advance(cursor, each)?;
                (segment.path.clone(), end)
            }
        };
        match cursor.next > wanted || cursor.done {
            true => Ok(()),
            false => Err(StoreError::corrupt(&path, end, format!("the segment ends before offset {wanted}"))),
        }
    }

    /// A segment that retention deleted between two steps is not an error of the disk.
    fn explain(&self, stream: &Stream, partition: u32, cursor: &Cursor, error: StoreError) -> StoreError {
        if let Err(trimmed) = bounds(stream, partition, cursor.next) {
            return trimmed;
        }
        if matches!(error, StoreError::Corrupt { .. }) {
            StoreCounters::add(&self.shared.counters.corrupt_reads, 1);
            if self.shared.met.is_new(&stream.name, partition, cursor.next) {
                let (stream, what) = (stream.name.clone(), error.to_string());
                self.shared.notice(Notice::Damaged { stream, partition, offset: cursor.next, what });
            }
        }
        error
    }
}

/// The first and the next offset of a partition; `from` has to lie between them.
fn bounds(stream: &Stream, partition: u32, from: u64) -> Result<(u64, u64), StoreError> {
    let name = || stream.name.clone();
    if partition >= stream.partitions {
        return Err(stream.no_partition(partition));
    }
    let state = stream.state();
    let (first_offset, next_offset) = (state.first_offset(partition), state.active.next[partition as usize]);
    drop(state);
    if from < first_offset {
        return Err(StoreError::Trimmed { stream: name(), partition, from, first_offset, next_offset });
    }
    if from > next_offset {
        return Err(StoreError::BeyondEnd { stream: name(), partition, from, next_offset });
    }
    Ok((first_offset, next_offset))
}
