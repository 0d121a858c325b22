//! Columns that grow by one value: plain vectors in Arrow's layout, turned into arrays without copying.

use std::sync::Arc;

use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{ArrayRef, BinaryArray, ListArray, PrimitiveArray, StringArray, StructArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

use crate::schema::{property_field, property_fields};

/// Values of varying length side by side; `ends[n]` is where value `n` ends.
#[derive(Debug, Default)]
pub(crate) struct VarColumn {
    ends: Vec<i32>,
    bytes: Vec<u8>,
}

impl VarColumn {
    /// Arrow's 32-bit offsets reach this far.
    pub(crate) const BYTES_MAX: usize = i32::MAX as usize;

    /// True when this many bytes more would pass the limit.
    pub(crate) fn is_full_for(&self, bytes: usize) -> bool {
        self.bytes.len() + bytes > Self::BYTES_MAX
    }

    /// Adds a value; the caller asked `is_full_for` before.
    #[inline]
    pub(crate) fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len() as i32);
    }

    /// The text column. The values came from `&str`, and are checked once more here: one pass over few bytes.
    pub(crate) fn take_text(&mut self) -> Result<StringArray, ArrowError> {
        let (offsets, bytes) = self.take();
        StringArray::try_new(offsets, bytes, None)
    }

    /// The binary column.
    pub(crate) fn take_binary(&mut self) -> Result<BinaryArray, ArrowError> {
        let (offsets, bytes) = self.take();
        BinaryArray::try_new(offsets, bytes, None)
    }

    /// Moves the vectors out and makes new ones of the same size: the next batch is likely to be like this one.
    fn take(&mut self) -> (OffsetBuffer<i32>, Buffer) {
        let ends = fresh(&mut self.ends);
        let bytes = fresh(&mut self.bytes);
        (offsets(ends), Buffer::from_vec(bytes))
    }
}

/// Replaces a vector by an empty one with room for as much.
pub(crate) fn fresh<T>(values: &mut Vec<T>) -> Vec<T> {
    let room = Vec::with_capacity(values.len());
    std::mem::replace(values, room)
}

/// Arrow wants a leading zero.
fn offsets(ends: Vec<i32>) -> OffsetBuffer<i32> {
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(0);
    offsets.extend_from_slice(&ends);
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

/// The user properties of all rows.
#[derive(Debug, Default)]
pub(crate) struct PropertyColumn {
    pub names: VarColumn,
    pub values: VarColumn,
    /// Properties up to and with each row.
    ends: Vec<i32>,
}

impl PropertyColumn {
    /// Adds a row.
    pub(crate) fn push<'p>(&mut self, properties: impl Iterator<Item = (&'p str, &'p str)>) {
        for (name, value) in properties {
            self.names.push(name.as_bytes());
            self.values.push(value.as_bytes());
        }
        self.ends.push(self.names.ends.len() as i32);
    }

    /// True when this many properties more would pass the limit.
    pub(crate) fn is_full_for(&self, count: usize) -> bool {
        self.names.ends.len() + count > VarColumn::BYTES_MAX
    }

    pub(crate) fn take(&mut self) -> Result<ListArray, ArrowError> {
        let columns: Vec<ArrayRef> = vec![Arc::new(self.names.take_text()?), Arc::new(self.values.take_text()?)];
        let properties = StructArray::try_new(property_fields(), columns, None)?;
        ListArray::try_new(Arc::new(property_field()), offsets(fresh(&mut self.ends)), Arc::new(properties), None)
    }
}

/// A column of times in UTC.
pub(crate) fn times(
    values: Vec<i64>,
    nulls: Option<NullBuffer>,
) -> Result<PrimitiveArray<TimestampMicrosecondType>, ArrowError> {
    Ok(PrimitiveArray::try_new(ScalarBuffer::from(values), nulls)?.with_timezone("UTC"))
}
