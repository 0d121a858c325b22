//! A run of records becomes one Arrow IPC stream.

use std::sync::Arc;

use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{ArrayRef, BooleanArray, Int8Array, Int32Array, Int64Array, PrimitiveArray, RecordBatch};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBufferBuilder};
use arrow_ipc::writer::StreamEncoder;
use arrow_schema::ArrowError;

use crate::columns::{PropertyColumn, VarColumn, fresh, times};
use crate::envelope::{Envelope, UserProperties};
use crate::error::EnvelopeError;
use crate::schema::schema;

/// Gathers records into Arrow columns: fed from the log reader's callback, each byte is copied once into its column.
///
/// After `finish_...` it is empty and ready for the next batch.
#[derive(Debug)]
pub struct RowBatchBuilder {
    partition: u32,
    topics: VarColumn,
    payloads: VarColumn,
    client_ids: VarColumn,
    qos: Vec<i8>,
    retain: BooleanBufferBuilder,
    user_properties: PropertyColumn,
    offsets: Vec<i64>,
    sent_at_us: Vec<i64>,
    sent_at_known: NullBufferBuilder,
    ingress_at_us: Vec<i64>,
    appended_at_us: Vec<i64>,
}

impl RowBatchBuilder {
    /// A builder for records of one partition.
    pub fn new(partition: u32) -> Self {
        Self {
            partition,
            topics: VarColumn::default(),
            payloads: VarColumn::default(),
            client_ids: VarColumn::default(),
            qos: vec![],
            retain: BooleanBufferBuilder::new(0),
            user_properties: PropertyColumn::default(),
            offsets: vec![],
            sent_at_us: vec![],
            sent_at_known: NullBufferBuilder::new(0),
            ingress_at_us: vec![],
            appended_at_us: vec![],
        }
    }

    /// Adds the record at `offset`, appended at `appended_at_us` (microseconds since the epoch), whose body is an
    /// encoded envelope. On an error the batch is as before.
    ///
    /// # Errors
    /// `Version`, `Malformed`, `BatchFull`.
    pub fn push(&mut self, offset: u64, appended_at_us: i64, body: &[u8]) -> Result<(), EnvelopeError> {
        let (envelope, user_properties) = Envelope::decode(body)?;
        self.check_room(&envelope, &user_properties)?;
        self.topics.push(envelope.topic.as_bytes());
        self.payloads.push(envelope.payload);
        self.client_ids.push(envelope.client_id.as_bytes());
        self.qos.push(envelope.qos as i8);
        self.retain.append(envelope.retain);
        self.user_properties.push(user_properties.iter());
        self.offsets.push(offset as i64);
        self.sent_at_us.push(envelope.sent_at_us.unwrap_or(0));
        self.sent_at_known.append(envelope.sent_at_us.is_some());
        self.ingress_at_us.push(envelope.ingress_at_us);
        self.appended_at_us.push(appended_at_us);
        Ok(())
    }

    fn check_room(&self, envelope: &Envelope<'_>, properties: &UserProperties<'_>) -> Result<(), EnvelopeError> {
        let (names, values) = if properties.is_empty() { (0, 0) } else { properties.text_bytes() };
        let is_full = self.topics.is_full_for(envelope.topic.len())
            || self.payloads.is_full_for(envelope.payload.len())
            || self.client_ids.is_full_for(envelope.client_id.len())
            || self.user_properties.is_full_for(properties.len())
            || self.user_properties.names.is_full_for(names)
            || self.user_properties.values.is_full_for(values);
        match is_full {
            true => Err(EnvelopeError::BatchFull { bytes_max: VarColumn::BYTES_MAX }),
            false => Ok(()),
        }
    }

    /// Records gathered.
    pub fn rows(&self) -> usize {
        self.offsets.len()
    }

    /// A whole Arrow IPC stream in parts that share the columns' memory: schema, one record batch (none when there are
    /// no rows), end mark. Write them one behind the other.
    ///
    /// # Errors
    /// `Arrow`.
    pub fn finish_parts(&mut self) -> Result<Vec<Buffer>, EnvelopeError> {
        let mut encoder = StreamEncoder::try_new(&schema())?;
        let mut parts = vec![];
        if self.rows() > 0 {
            parts = encoder.encode(&self.take_batch()?)?;
        }
        parts.extend(encoder.finish()?);
        Ok(parts)
    }

    /// Appends a whole Arrow IPC stream to `out`, as `finish_parts` makes it.
    ///
    /// # Errors
    /// `Arrow`.
    pub fn finish_ipc(&mut self, out: &mut Vec<u8>) -> Result<(), EnvelopeError> {
        let parts = self.finish_parts()?;
        out.reserve(parts.iter().map(Buffer::len).sum());
        parts.iter().for_each(|part| out.extend_from_slice(part));
        Ok(())
    }

    /// The rows as a batch; the builder is empty afterwards.
    fn take_batch(&mut self) -> Result<RecordBatch, ArrowError> {
        let rows = self.rows();
        let unknown = || Arc::new(PrimitiveArray::<TimestampMicrosecondType>::new_null(rows).with_timezone("UTC"));
        let sent_at_known = self.sent_at_known.finish();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.topics.take_text()?),
            Arc::new(self.payloads.take_binary()?),
            Arc::new(self.client_ids.take_text()?),
            Arc::new(Int8Array::from(fresh(&mut self.qos))),
            Arc::new(BooleanArray::new(self.retain.finish(), None)),
            Arc::new(self.user_properties.take()?),
            Arc::new(Int32Array::from(vec![self.partition as i32; rows])),
            Arc::new(Int64Array::from(fresh(&mut self.offsets))),
            Arc::new(times(fresh(&mut self.sent_at_us), sent_at_known)?),
            Arc::new(times(fresh(&mut self.ingress_at_us), None)?),
            Arc::new(times(fresh(&mut self.appended_at_us), None)?),
            unknown(),
            unknown(),
        ];
        RecordBatch::try_new(schema(), columns)
    }
}
