//! Streams as readers outside the node see them: a list in JSON, and messages as Arrow IPC.

use std::ops::ControlFlow;
use std::sync::Arc;

use lapwing_envelope::{EnvelopeError, RowBatchBuilder};
use lapwing_store::{LogReader, ReadBy, ReadLimits, ReaderInfo, StoreError, StreamInfo};
use serde_json::{Value, json};

use crate::config::{Config, StreamKey};

/// Cheap to clone; used from any thread.
#[derive(Clone)]
pub struct Streams {
    /// `None` when the node has no streams and therefore no log.
    reader: Option<LogReader>,
    config: Arc<Config>,
}

/// One answer to a reader.
#[derive(Debug)]
pub struct ArrowRead {
    /// A whole Arrow IPC stream; its schema alone when there are no messages.
    pub ipc: Vec<u8>,
    /// The first offset that retention has left.
    pub first_offset: u64,
    /// Continue here.
    pub next_offset: u64,
    /// The first offset that is not durable yet.
    pub end_offset: u64,
}

/// Why a read failed.
#[derive(Debug, thiserror::Error)]
pub enum StreamReadError {
    /// The caller's mistake, or damage in the log.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record that is no envelope, or rows that do not fit one batch.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
}

impl Streams {
    pub(crate) fn new(reader: Option<LogReader>, config: Arc<Config>) -> Self {
        Streams { reader, config }
    }

    /// The reader of the log, if the node has one.
    pub fn reader(&self) -> Option<&LogReader> {
        self.reader.as_ref()
    }

    /// The body of `GET /v1/streams`: `{"streams": [...]}`.
    pub fn to_json(&self) -> String {
        let streams = self.reader.as_ref().map(LogReader::streams).unwrap_or_default();
        let streams: Vec<Value> = streams.iter().map(|stream| self.describe(stream)).collect();
        json!({ "streams": streams }).to_string()
    }

    fn describe(&self, stream: &StreamInfo) -> Value {
        let configured = self.config.streams.get(&stream.name);
        let key = match configured.map(|c| c.key).unwrap_or_default() {
            StreamKey::Client => "client",
            StreamKey::Topic => "topic",
        };
        let partitions: Vec<Value> = stream
            .partitions
            .iter()
            .map(|p| {
                json!({
                    "partition": p.partition, "first_offset": p.first_offset,
                    "next_offset": p.next_offset, "bytes": p.bytes,
                })
            })
            .collect();
        json!({
            "name": stream.name, "uuid": stream.uuid.to_string(),
            "filter": configured.map(|c| c.filter.as_str()), "key": key, "partitions": partitions,
        })
    }

    /// A stream's named readers.
    ///
    /// # Errors
    /// There is no such stream.
    pub fn readers(&self, name: &str) -> Result<Vec<ReaderInfo>, StreamReadError> {
        let Some(log) = &self.reader else { return Ok(Vec::new()) };
        Ok(log.stream(name)?.readers)
    }

    /// Forgets the position of a stream's named reader; false when there was none.
    ///
    /// # Errors
    /// There is no such stream.
    pub fn forget_reader(&self, name: &str, reader: &str) -> Result<bool, StreamReadError> {
        let Some(log) = &self.reader else { return Ok(false) };
        Ok(log.forget_reader(log.stream(name)?.index, reader))
    }

    /// Messages of a partition from `from` on, at most `messages_max` of them and `bytes_max` bytes of bodies.
    ///
    /// `reader`: a name under which the position is remembered, for the alarm of retention, and whose it is.
    /// # Errors
    /// See [`StreamReadError`].
    pub fn read_arrow(
        &self,
        name: &str,
        partition: u32,
        from: u64,
        messages_max: u64,
        bytes_max: u64,
        reader: Option<ReadBy<'_>>,
    ) -> Result<ArrowRead, StreamReadError> {
        let Some(log) = &self.reader else {
            return Err(StoreError::NoStream { name: name.to_owned(), known: Vec::new() }.into());
        };
        let stream = log.stream(name)?;
        let mut rows = RowBatchBuilder::new(partition);
        let mut failure = None;
        let limits = ReadLimits { messages_max, bytes_max };
        let outcome = log.read_by(stream.index, partition, from, limits, reader, &mut |record| match rows.push(
            record.offset,
            record.appended_at_us,
            record.body,
        ) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some((record.offset, error));
                ControlFlow::Break(())
            }
        })?;
        let next_offset = match failure {
            None => outcome.next_offset,
            // The batch is full: the reader continues with the record that found no room.
            Some((offset, EnvelopeError::BatchFull { .. })) if rows.rows() > 0 => offset,
            Some((_, error)) => return Err(error.into()),
        };
        let mut ipc = Vec::new();
        rows.finish_ipc(&mut ipc)?;
        Ok(ArrowRead { ipc, first_offset: outcome.first_offset, next_offset, end_offset: outcome.end_offset })
    }
}

impl StreamReadError {
    /// A short, stable name of the kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            StreamReadError::Store(error) => match error {
                StoreError::NoStream { .. } => "stream_unknown",
                StoreError::NoPartition { .. } => "partition_unknown",
                StoreError::Trimmed { .. } => "offset_trimmed",
                StoreError::BeyondEnd { .. } => "offset_ahead",
                StoreError::ReaderName { .. } | StoreError::TooManyReaders { .. } => "reader",
                StoreError::ReaderTaken { .. } => "reader_taken",
                StoreError::Corrupt { .. } => "data_corrupt",
                _ => "store",
            },
            StreamReadError::Envelope(_) => "data_corrupt",
        }
    }

    /// What the reader can do.
    pub fn remedy(&self) -> &'static str {
        match self.code() {
            "stream_unknown" => "Name one of the streams listed at /v1/streams.",
            "partition_unknown" => "Partitions are counted from 0; /v1/streams/NAME lists them.",
            "offset_trimmed" => {
                "Continue at first_offset, or restore the older data; raise retain_age or retain_bytes."
            }
            "offset_ahead" => "Continue at next_offset; if the stream was made anew, its UUID differs.",
            "reader" => "Use a short name of letters, digits, '.', '_' and '-', and few of them.",
            "reader_taken" => {
                "Read under another name, or without one; who has may = [\"admin\"] may move or forget any."
            }
            "data_corrupt" => "Restore the file named from a copy.",
            _ => "Check the data folder and the broker's log.",
        }
    }

    /// Numbers that belong to the error.
    pub fn evidence(&self) -> Vec<(&'static str, u64)> {
        match self {
            StreamReadError::Store(StoreError::Trimmed { first_offset, next_offset, .. }) => {
                vec![("first_offset", *first_offset), ("next_offset", *next_offset)]
            }
            StreamReadError::Store(StoreError::BeyondEnd { next_offset, .. }) => vec![("next_offset", *next_offset)],
            StreamReadError::Store(StoreError::NoPartition { partitions, .. }) => {
                vec![("partitions", u64::from(*partitions))]
            }
            _ => Vec::new(),
        }
    }
}
