//! Reading: from any thread, never more than what is synced.

use std::ops::ControlFlow;

use crate::error::StoreError;
use crate::info::{ReadLimits, ReadOutcome, RecordView, StreamIndex, StreamInfo};
use crate::notice::{Notice, StoreCounters};

/// A handle to every stream. Cheap to clone; used by any number of threads beside the writer.
#[derive(Debug, Clone)]
pub struct LogReader {}

impl LogReader {
    /// Every stream, in the order of the configuration.
    pub fn streams(&self) -> Vec<StreamInfo> {
        unimplemented!()
    }

    /// The stream of this name.
    ///
    /// # Errors
    /// `NoStream`, which names those there are.
    pub fn stream(&self, _name: &str) -> Result<StreamInfo, StoreError> {
        unimplemented!()
    }

    /// Hands records `from..` of a partition to `each`, in order, until a limit, the end, or `Break`.
    ///
    /// `reader`: a name under which the position is remembered: everything before `from` counts as read by it.
    /// A record on which `each` breaks was handed over and counts.
    ///
    /// # Errors
    /// `Trimmed` (below the first offset), `BeyondEnd`, `NoStream`, `NoPartition`, `ReaderName`, `TooManyReaders`: the
    /// caller's. `Corrupt`, `Io`: the log's; records before the damage were handed over.
    pub fn read(
        &self,
        _stream: StreamIndex,
        _partition: u32,
        _from: u64,
        _limits: ReadLimits,
        _reader: Option<&str>,
        _each: &mut impl FnMut(RecordView<'_>) -> ControlFlow<()>,
    ) -> Result<ReadOutcome, StoreError> {
        unimplemented!()
    }

    /// Forgets a named reader; true when there was one.
    pub fn forget_reader(&self, _stream: StreamIndex, _name: &str) -> bool {
        unimplemented!()
    }

    /// Takes what the log has to say since the last call: what recovery found, indexes rebuilt, alarms.
    pub fn take_notices(&self) -> Vec<Notice> {
        unimplemented!()
    }

    /// Counters since the log was opened.
    pub fn counters(&self) -> &StoreCounters {
        unimplemented!()
    }
}
