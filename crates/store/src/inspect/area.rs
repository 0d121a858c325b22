//! The part of a damaged segment that is written anew: one commit with everything readable of it, and something in the
//! place of what is lost.

use super::mend::LostRange;
use crate::batch::{Batch, opening_bytes};
use crate::clock::now_us;
use crate::error::StoreError;
use crate::record::{
    CommitBody, Fault, LIFETIME_JOURNAL, LIFETIME_KEPT, LIFETIME_STREAM, LOST_OFFSET, RecordHeader, RecordKind,
    record_bytes,
};
use crate::scan::{Found, Visitor};

/// What the places of a partition are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Offsets, without holes.
    Stream,
    /// Indexes of entries, without holes.
    Journal,
    /// Indexes of entries that were kept, ascending.
    Kept,
}

impl Order {
    /// The place that a record takes.
    pub(crate) fn place(self, header: &RecordHeader) -> Option<u64> {
        match (self, header.kind) {
            (Self::Stream, RecordKind::Data) => Some(header.offset),
            (Self::Stream, RecordKind::Lost) => (header.message_id == LOST_OFFSET).then_some(header.offset),
            (_, RecordKind::Data) => Some(header.index),
            _ => None,
        }
    }
}

/// Per partition: the next place, the term of the last entry, the last Raft index, the first place that was met.
#[derive(Debug, Clone)]
pub(crate) struct Books {
    pub next: Vec<u64>,
    pub terms: Vec<u64>,
    pub raft_indexes: Vec<u64>,
    pub firsts: Vec<Option<u64>>,
    /// The place behind the last one that a snapshot was said to have.
    pub purged: Vec<u64>,
}

impl Books {
    fn note(&mut self, order: Order, header: &RecordHeader) {
        let partition = header.partition as usize;
        let Some(next) = self.next.get_mut(partition) else { return };
        self.raft_indexes[partition] = raft_index_behind(self.raft_indexes[partition], header);
        match header.kind {
            RecordKind::Truncation => *next = header.index,
            RecordKind::Purge => {
                *next = (*next).max(header.index + 1);
                self.purged[partition] = self.purged[partition].max(header.index + 1);
            }
            _ => {
                if let Some(place) = order.place(header) {
                    *next = place + 1;
                    self.terms[partition] = header.term;
                    self.firsts[partition].get_or_insert(place);
                }
            }
        }
    }
}

/// The last Raft index behind a record of a group that had `last` before it; of no meaning in a stream.
fn raft_index_behind(last: u64, header: &RecordHeader) -> u64 {
    match header.kind {
        RecordKind::Data => header.offset,
        RecordKind::Truncation if header.offset > 0 => last.min(header.offset - 1),
        _ => last.max(header.offset),
    }
}

/// Follows the places of whole commits, and judges nothing.
#[derive(Debug)]
pub(crate) struct Follower {
    order: Order,
    pub books: Books,
    seen: Books,
}

impl Follower {
    /// Partitions begin at these places, and behind these Raft indexes, as many as are known.
    pub(crate) fn new(order: Order, next: Vec<u64>, mut raft_indexes: Vec<u64>) -> Self {
        let count = next.len();
        raft_indexes.resize(count, 0);
        let books =
            Books { terms: vec![0; count], raft_indexes, firsts: vec![None; count], purged: vec![0; count], next };
        Self { order, seen: books.clone(), books }
    }
}

impl Visitor for Follower {
    fn partitions(&self) -> usize {
        self.books.next.len()
    }

    fn record(&mut self, found: &Found<'_>) -> Result<(), Fault> {
        self.seen.note(self.order, &found.header);
        Ok(())
    }

    fn committed(&mut self, _: &CommitBody, _: u64) {
        self.books.clone_from(&self.seen);
    }

    fn abandoned(&mut self, _: u64) {
        self.seen.clone_from(&self.books);
    }
}

/// A readable record of the area.
#[derive(Debug)]
pub(crate) struct Item {
    pub at: u64,
    pub header: RecordHeader,
    pub body: Vec<u8>,
}

/// What is known of the area.
pub(crate) struct Area<'a> {
    pub order: Order,
    pub from: u64,
    pub until: u64,
    /// As the partitions stand before it.
    pub before: Books,
    /// Per partition the place behind it, where that is known.
    pub after: Vec<Option<u64>>,
    /// Per partition a place that was reached in any case.
    pub reached: Vec<u64>,
    pub items: Vec<Item>,
    pub gaps: Vec<(u64, u64)>,
    /// The body of an entry that takes the place of a lost one, of so many bytes.
    pub filler: &'a dyn Fn(usize) -> Vec<u8>,
}

/// Its records, in the order of the partitions.
#[derive(Default)]
struct Made {
    records: Vec<(RecordHeader, Vec<u8>)>,
    /// The last one whose length is free.
    elastic: Option<usize>,
    lost: Vec<LostRange>,
}

/// What takes the place of an area.
pub(crate) struct Built {
    /// Exactly as many bytes.
    pub bytes: Vec<u8>,
    pub lost: Vec<LostRange>,
    /// How many of them are there only to fill it.
    pub spare_bytes: u64,
}

/// Bytes of the body of an entry in the place of a lost one: no entry that was there had a shorter record.
pub(crate) const FILLER_BYTES: usize = 8;

impl Area<'_> {
    /// What takes its place.
    ///
    /// # Errors
    /// In words: it cannot be done.
    pub(crate) fn build(mut self, salt: u32) -> Result<Built, &'static str> {
        let mut made = Made::default();
        let items = std::mem::take(&mut self.items);
        let mut by_partition: Vec<Vec<Item>> = self.before.next.iter().map(|_| vec![]).collect();
        for item in items {
            let partition = by_partition.get_mut(item.header.partition as usize);
            partition.ok_or("a record of a partition that is not there lies in it")?.push(item);
        }
        for (partition, items) in (0u32..).zip(by_partition) {
            self.partition(partition, items, &mut made)?;
        }
        let spare_bytes = self.pad(&mut made)?;
        Ok(Built { bytes: self.encode(&made, salt), lost: made.lost, spare_bytes })
    }

    fn room(&self) -> u64 {
        self.until - self.from
    }

    /// What there is of one partition, with something in the place of what is not.
    fn partition(&self, partition: u32, items: Vec<Item>, made: &mut Made) -> Result<(), &'static str> {
        let mut cursor = self.before.next[partition as usize];
        let mut term = self.before.terms[partition as usize];
        let mut raft_index = self.before.raft_indexes[partition as usize];
        // Behind the last record of this partition, wherever it is.
        let mut last_at = self.before.firsts[partition as usize].map(|_| self.from);
        for Item { at, header, body } in items {
            if let Some(place) = self.order.place(&header) {
                match self.order {
                    Order::Kept if last_at.is_some_and(|last| self.has_gap(last, at)) => {
                        made.elastic = Some(made.records.len());
                        made.records.push((own(RecordKind::Stretch, partition, place, LIFETIME_KEPT), vec![]));
                    }
                    Order::Kept => {}
                    _ if place > cursor => self.lose((partition, term, raft_index), cursor..place, made)?,
                    Order::Journal if place < cursor => {
                        let cut = own(RecordKind::Truncation, partition, place, LIFETIME_JOURNAL);
                        made.records.push((RecordHeader { offset: header.offset, ..cut }, vec![]));
                    }
                    _ => {}
                }
                (cursor, term, last_at) = (place + 1, header.term, Some(at));
            }
            match header.kind {
                RecordKind::Truncation => cursor = header.index,
                RecordKind::Purge => {
                    let through = header.index + 1;
                    if self.order == Order::Journal && through > cursor && self.has_gap(self.from, at) {
                        // A snapshot has what was there.
                        self.lose((partition, term, raft_index), cursor..through, made)?;
                    }
                    cursor = cursor.max(through);
                }
                _ => {}
            }
            raft_index = raft_index_behind(raft_index, &header);
            made.records.push((header, body));
        }
        let after = self.after[partition as usize].unwrap_or(self.reached[partition as usize]);
        match Some(after).filter(|after| *after > cursor && self.order != Order::Kept) {
            Some(after) => self.lose((partition, term, raft_index), cursor..after, made),
            None => Ok(()),
        }
    }

    fn has_gap(&self, from: u64, until: u64) -> bool {
        self.gaps.iter().any(|gap| gap.0 >= from && gap.0 < until)
    }

    /// Something in the place of each lost record.
    fn lose(
        &self,
        (partition, term, raft_index): (u32, u64, u64),
        lost: std::ops::Range<u64>,
        made: &mut Made,
    ) -> Result<(), &'static str> {
        if (lost.end - lost.start).saturating_mul(record_bytes(0) as u64) > self.room() {
            return Err("more is missing than can have been there");
        }
        made.lost.push(LostRange { partition, first: lost.start, last: lost.end - 1 });
        for place in lost {
            made.elastic = Some(made.records.len());
            made.records.push(match self.order {
                Order::Stream => {
                    let own = RecordHeader::own(RecordKind::Lost, now_us());
                    (RecordHeader { partition, offset: place, message_id: LOST_OFFSET, ..own }, vec![])
                }
                _ => {
                    let header = own(RecordKind::Data, partition, place, LIFETIME_JOURNAL);
                    (RecordHeader { term, offset: raft_index, ..header }, (self.filler)(FILLER_BYTES))
                }
            });
        }
        Ok(())
    }

    /// Makes it exactly as long as the area; returns how much was missing.
    fn pad(&self, made: &mut Made) -> Result<u64, &'static str> {
        const TOO_LONG: &str = "what is left of it is longer than it was";
        let left = |made: &Made| self.room().checked_sub(made.bytes()).ok_or(TOO_LONG);
        let spare_bytes = left(made)?;
        if spare_bytes == 0 {
            return Ok(0);
        }
        if let Some(place) = made.elastic {
            let (header, body) = &mut made.records[place];
            let bytes = body.len() + spare_bytes as usize;
            *body = if header.kind == RecordKind::Data { (self.filler)(bytes) } else { vec![0; bytes] };
            return Ok(spare_bytes);
        }
        // Only records of the log's own are lost: a record that says nothing takes their place.
        let partition = made.records.last().map_or(0, |record| record.0.partition);
        let lifetime = match self.order {
            Order::Stream => LIFETIME_STREAM,
            Order::Journal => LIFETIME_JOURNAL,
            Order::Kept => LIFETIME_KEPT,
        };
        made.records.push((own(RecordKind::Lost, partition, 0, lifetime), vec![]));
        let missing = left(made)? as usize;
        if let Some((_, body)) = made.records.last_mut() {
            body.resize(missing, 0);
        }
        Ok(spare_bytes)
    }

    fn encode(&self, made: &Made, salt: u32) -> Vec<u8> {
        let mut batch = Batch::new(self.before.next.len() as u32);
        for (header, body) in &made.records {
            batch.push(header, body, salt);
        }
        let mut opening = vec![];
        CommitBody { synced_before: self.from, runs: batch.runs() }.encode(now_us(), salt, &mut opening);
        batch.parts(&opening).iter().flat_map(|part| part.iter().copied()).collect()
    }
}

impl Made {
    /// On disk, the commit record included.
    fn bytes(&self) -> u64 {
        let mut partitions: Vec<u32> = self.records.iter().map(|record| record.0.partition).collect();
        partitions.dedup();
        let records: usize = self.records.iter().map(|record| record_bytes(record.1.len())).sum();
        opening_bytes(partitions.len()) + records as u64
    }
}

fn own(kind: RecordKind, partition: u32, index: u64, lifetime: u8) -> RecordHeader {
    let own = RecordHeader::own(kind, now_us());
    RecordHeader { lifetime, data_group: partition as u16, partition, index, ..own }
}

/// An error in words as one that names the file.
pub(crate) fn not_mendable(file: &std::path::Path, why: impl Into<String>) -> StoreError {
    StoreError::NotMendable { file: file.to_path_buf(), why: why.into() }
}
