//! A snapshot cut into chunks: always the same ones, so that a transfer goes on where a connection broke.

use std::io::{self, Read};
use std::ops::ControlFlow;

use lapwing_peer::{EncodeError, KeptRecord, List, Record, write_kept_records};
use lapwing_store::journal::JournalReader;

use crate::log::snapshot::store_error;
use crate::replica::{GroupFault, Moved, ReplicaError, journal_group};

/// Bytes of a chunk; one of records has one at least, however large.
const CHUNK_BYTES: usize = 256 << 10;
/// What a record takes beside its body, at most.
const RECORD_BYTES_MAX: u64 = 64;
/// No body is larger.
const RECORDS_BYTES_MAX: usize = 556 << 20;

/// The chunks of a snapshot, one after the other.
pub(super) struct Chunks {
    reader: JournalReader,
    moved: Moved,
    state: Box<dyn Read>,
    /// The number of the next chunk, and the checksum of those before it.
    next: u32,
    crc: u32,
    /// For each chunk that was made the checksum before it, and for one of records the place of its first in `moved.live`.
    made: Vec<(u32, usize)>,
    /// The place of the next record.
    place: usize,
}

impl Chunks {
    pub(super) fn new(reader: JournalReader, moved: Moved) -> Result<Chunks, ReplicaError> {
        let state = Box::new(moved.state()?);
        Ok(Chunks { reader, moved, state, next: 0, crc: 0, made: vec![], place: 0 })
    }

    pub(super) fn moved(&self) -> &Moved {
        &self.moved
    }

    /// How many chunks the state has.
    pub(super) fn of_state(&self) -> u32 {
        self.moved.state_bytes.div_ceil(CHUNK_BYTES as u64) as u32
    }

    /// Bytes of all chunks, at most.
    pub(super) fn bytes_max(&self) -> u64 {
        self.moved.state_bytes + self.moved.live_bytes + self.moved.live.len() as u64 * RECORD_BYTES_MAX
    }

    /// Chunks that were given, and the checksum of all of them.
    pub(super) fn given(&self) -> (u32, u32) {
        (self.next, self.crc)
    }

    /// Goes back, or on, to the chunk of this number; false: no such chunk was made.
    pub(super) fn seek(&mut self, number: u32) -> Result<bool, ReplicaError> {
        if number == self.next {
            return Ok(true);
        }
        let Some((crc, place)) = self.made.get(number as usize).copied() else { return Ok(false) };
        (self.next, self.crc, self.place) = (number, crc, place);
        self.made.truncate(number as usize);
        let skipped = u64::from(number) * CHUNK_BYTES as u64;
        self.state = Box::new(self.moved.state()?);
        let read = io::copy(&mut (&mut self.state).take(skipped), &mut io::sink());
        read.map(|_| true).map_err(|error| store_error(error).into())
    }

    /// The next chunk, into `out`; false: that was all.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, ReplicaError> {
        out.clear();
        let place = self.place;
        if self.next < self.of_state() {
            let read = (&mut self.state).take(CHUNK_BYTES as u64).read_to_end(out);
            read.map_err(|error| ReplicaError::Store(store_error(error)))?;
        } else {
            self.records(out)?;
        }
        if out.is_empty() {
            return Ok(false);
        }
        self.made.push((self.crc, place));
        self.crc = crc32c::crc32c_append(self.crc, out);
        self.next += 1;
        Ok(true)
    }

    /// Records, as many as a chunk has. What is dead by now and gone is left out.
    fn records(&mut self, out: &mut Vec<u8>) -> Result<(), ReplicaError> {
        let Chunks { reader, moved, place, .. } = self;
        let (rest, first) = (&moved.live[*place..], *place);
        let mut failed: Option<EncodeError> = None;
        let mut last = None;
        reader.get_many(journal_group(moved.group), rest, &mut |entry| {
            let record = Record {
                slot: entry.slot,
                message_id: entry.message_id,
                appended_at_us: entry.appended_at_us,
                body: entry.body,
            };
            let kept = [KeptRecord { sequence: entry.index, term: entry.term, record }];
            failed = write_kept_records(&List::from_slice(&kept), RECORDS_BYTES_MAX, out).err();
            last = Some(entry.index);
            if failed.is_some() || out.len() >= CHUNK_BYTES {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if failed.is_some() {
            let fault = GroupFault::Snapshot("it refers to an entry that no record can have");
            return Err(ReplicaError::group(moved.group, fault));
        }
        let taken = last.map_or(rest.len(), |last| rest.partition_point(|index| *index <= last));
        self.place = first + taken;
        Ok(())
    }
}
