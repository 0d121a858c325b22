//! What the tests of the log share.

use std::ops::ControlFlow;

use lapwing_store::{Append, LogReader, LogWriter, ReadLimits, ReadOutcome, StoreError, StreamConfig, StreamIndex};

pub const FIRST: StreamIndex = StreamIndex(0);
pub const EVERYTHING: ReadLimits = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
pub const NOW_US: i64 = 1_700_000_000_000_000;

/// A stream with the smallest segments.
pub fn small(name: &str, partitions: u32) -> StreamConfig {
    StreamConfig { segment_bytes: 64 << 10, ..StreamConfig::new(name, partitions) }
}

pub fn record(partition: u32, body: &[u8]) -> Append<'_> {
    Append { partition, slot: 7, data_group: 3, message_id: 99, appended_at_us: NOW_US, body }
}

pub fn append(writer: &mut LogWriter, partition: u32, body: &[u8]) -> u64 {
    writer.append(FIRST, record(partition, body)).expect("an append")
}

/// Offsets and bodies from `from` to the end.
pub fn read_from(reader: &LogReader, partition: u32, from: u64) -> Result<Vec<(u64, Vec<u8>)>, StoreError> {
    let mut records = vec![];
    read_with(reader, partition, from, EVERYTHING, &mut records)?;
    Ok(records)
}

/// All bodies of a partition that is whole.
pub fn read_all(reader: &LogReader, partition: u32) -> Vec<Vec<u8>> {
    let first = reader.streams()[0].partitions[partition as usize].first_offset;
    let mut records = vec![];
    let mut next = first;
    loop {
        // A read that meets damage ends early; the next one says why.
        let more = read_from(reader, partition, next).expect("a read");
        if more.is_empty() {
            break;
        }
        next += more.len() as u64;
        records.extend(more);
    }
    for (place, (offset, _)) in records.iter().enumerate() {
        assert_eq!(*offset, first + place as u64, "offsets have no gaps");
    }
    records.into_iter().map(|(_, body)| body).collect()
}

pub fn read_with(
    reader: &LogReader,
    partition: u32,
    from: u64,
    limits: ReadLimits,
    records: &mut Vec<(u64, Vec<u8>)>,
) -> Result<ReadOutcome, StoreError> {
    reader.read(FIRST, partition, from, limits, None, &mut |record| {
        records.push((record.offset, record.body.to_vec()));
        ControlFlow::Continue(())
    })
}

/// A body that tells its partition and number, of a length that varies.
pub fn body(partition: u32, number: u64) -> Vec<u8> {
    let mut body = format!("{partition}/{number}:").into_bytes();
    body.resize(body.len() + (number * 37 % 300) as usize, number as u8);
    body
}
