//! The index of a sealed segment as a file beside it, tied to it by sequence, salt and end. Two records: what opening the
//! journal needs, and what readers need.

use std::borrow::Cow;
use std::io::IoSlice;

use super::data_group::{GROUPS, PLACES};
use super::index::{DataGroupIndex, SegmentIndex, Stretch};
use super::op::Mark;
use crate::record::{self, Fault, NO_SALT, NUMBER_MAX, RecordHeader, RecordKind, u32_at, u64_at};

/// The segment that an index belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sidecar {
    pub sequence: u64,
    pub salt: u32,
    pub end: u64,
}

/// How much of an index is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Which stretches there are.
    Stretches,
    /// And marks to find entries by.
    Marks,
    /// And the length of every entry.
    Lengths,
}

/// The contents of such a file, in parts. The lengths are most of it and are written from where they lie: a megabyte of fresh
/// memory can take longer than all the rest, and commits wait meanwhile.
#[derive(Debug)]
pub(crate) struct Contents<'i> {
    /// The first record, and the head of the second.
    first: Vec<u8>,
    /// The body of the second.
    marks: Vec<Cow<'i, [u8]>>,
    padding: &'static [u8],
}

const FIXED_BYTES: usize = 24;
const GROUP_BYTES: usize = 16;
const STRETCH_BYTES: usize = 40;
const MARK_BYTES: usize = 16;

impl Sidecar {
    /// The file's contents.
    pub(crate) fn encode<'i>(&self, index: &'i SegmentIndex) -> Contents<'i> {
        let mut heads = self.sequence.to_le_bytes().to_vec();
        heads.extend_from_slice(&self.end.to_le_bytes());
        heads.extend_from_slice(&self.salt.to_le_bytes());
        heads.extend_from_slice(&(index.told().len() as u32).to_le_bytes());
        let mut marks = vec![];
        for group in index.told() {
            encode_group(group, &mut heads, &mut marks);
        }
        let mut first = Vec::new();
        RecordHeader::own(RecordKind::JournalIndex, 0).encode(&heads, NO_SALT, &mut first);
        // Its salt ties the second record to the segment.
        let body: Vec<&[u8]> = marks.iter().map(|part| &**part).collect();
        let (head, padding) = RecordHeader::own(RecordKind::JournalMarks, 0).head(&body, self.salt);
        first.extend_from_slice(&head);
        Contents { first, marks, padding }
    }

    /// Reads the file's contents, or as much of them as `detail` needs; they must belong to this very segment.
    pub(crate) fn decode(&self, bytes: &[u8], detail: Detail) -> Result<SegmentIndex, Fault> {
        let malformed = || Fault::Misplaced("an index of the wrong length");
        let (header, heads) = record::decode(bytes, NO_SALT)?;
        if header.kind != RecordKind::JournalIndex || heads.len() < FIXED_BYTES {
            return Err(malformed());
        }
        let found = Self { sequence: u64_at(heads, 0), end: u64_at(heads, 8), salt: u32_at(heads, 16) };
        let told = u32_at(heads, 20) as usize;
        if found != *self || ![GROUPS, PLACES].contains(&told) {
            return Err(Fault::Misplaced("the index of another segment"));
        }
        let marks = match detail {
            Detail::Stretches => None,
            Detail::Marks | Detail::Lengths => Some(self.marks(&bytes[record::record_bytes(heads.len())..])?),
        };
        let mut rest = Rest { heads: &heads[FIXED_BYTES..], marks, detail, end: self.end };
        let mut index = SegmentIndex::new();
        for group in &mut index.groups[..told] {
            *group = rest.group().ok_or_else(malformed)?;
        }
        Ok(index)
    }

    fn marks<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], Fault> {
        let (header, marks) = record::decode(bytes, self.salt)?;
        match header.kind == RecordKind::JournalMarks && bytes.len() == record::record_bytes(marks.len()) {
            true => Ok(marks),
            false => Err(Fault::Misplaced("an index of the wrong length")),
        }
    }
}

impl Contents<'_> {
    /// One behind the other.
    pub(crate) fn parts(&self) -> Vec<IoSlice<'_>> {
        let marks = self.marks.iter().map(|part| &**part);
        [&*self.first].into_iter().chain(marks).chain([self.padding]).map(IoSlice::new).collect()
    }
}

fn encode_group<'i>(group: &'i DataGroupIndex, heads: &mut Vec<u8>, parts: &mut Vec<Cow<'i, [u8]>>) {
    heads.extend_from_slice(&group.cut_from.unwrap_or(u64::MAX).to_le_bytes());
    heads.extend_from_slice(&(group.stretches.len() as u64).to_le_bytes());
    for stretch in &group.stretches {
        for number in [stretch.first, stretch.last, stretch.records, stretch.bytes] {
            heads.extend_from_slice(&number.to_le_bytes());
        }
        heads.extend_from_slice(&(stretch.marks.len() as u32).to_le_bytes());
        heads.extend_from_slice(&(stretch.lengths.len() as u32).to_le_bytes());
        let bytes = |mark: &Mark| [mark.index.to_le_bytes(), mark.position.to_le_bytes()];
        parts.push(stretch.marks.iter().flat_map(bytes).flatten().collect());
        parts.push(Cow::Borrowed(&stretch.lengths));
    }
}

/// What is left of both records.
struct Rest<'b> {
    heads: &'b [u8],
    marks: Option<&'b [u8]>,
    detail: Detail,
    /// Of the segment.
    end: u64,
}

impl Rest<'_> {
    fn group(&mut self) -> Option<DataGroupIndex> {
        let (fixed, rest) = self.heads.split_at_checked(GROUP_BYTES)?;
        self.heads = rest;
        let count = usize::try_from(u64_at(fixed, 8)).ok().filter(|count| *count <= rest.len() / STRETCH_BYTES)?;
        let stretches: Option<Vec<_>> = (0..count).map(|_| self.stretch()).collect();
        let cut_from = Some(u64_at(fixed, 0)).filter(|from| *from != u64::MAX);
        Some(DataGroupIndex { stretches: stretches?, cut_from, ..DataGroupIndex::default() })
    }

    fn stretch(&mut self) -> Option<Stretch> {
        let (fixed, rest) = self.heads.split_at_checked(STRETCH_BYTES)?;
        self.heads = rest;
        let (marks, lengths) = self.details(u32_at(fixed, 32) as usize, u32_at(fixed, 36) as usize)?;
        let (first, last) = (u64_at(fixed, 0), u64_at(fixed, 8));
        let (records, bytes) = (u64_at(fixed, 16), u64_at(fixed, 24));
        let fits = first <= last && last <= NUMBER_MAX && bytes <= self.end && records <= last - first + 1;
        fits.then_some(Stretch { first, last, records, bytes, marks, lengths })
    }

    fn details(&mut self, marks: usize, lengths: usize) -> Option<(Vec<Mark>, Vec<u8>)> {
        let Some(rest) = &mut self.marks else { return Some((vec![], vec![])) };
        let (marks, behind) = rest.split_at_checked(marks.checked_mul(MARK_BYTES)?)?;
        let (lengths, behind) = behind.split_at_checked(lengths)?;
        *rest = behind;
        let mark = |bytes: &[u8]| Mark { index: u64_at(bytes, 0), position: u64_at(bytes, 8) };
        let lengths = if self.detail == Detail::Lengths { lengths.to_vec() } else { vec![] };
        Some((marks.chunks_exact(MARK_BYTES).map(mark).collect(), lengths))
    }
}

#[cfg(test)]
mod tests {
    use super::super::op::{Op, Ops};
    use super::*;

    fn filled() -> SegmentIndex {
        let mut index = SegmentIndex::new();
        let mut ops = Ops::default();
        for place in 0..500 {
            let header = RecordHeader { index: 7 + place, ..RecordHeader::own(RecordKind::Data, 0) };
            ops.entry(&header, place * 128, 128);
        }
        ops.list().iter().for_each(|op| index.apply(3, op, 4096, false));
        index.apply(9, &Op::Truncate { from: 2, raft_index: 0 }, 0, false);
        index
    }

    fn written(sidecar: Sidecar) -> Vec<u8> {
        sidecar.encode(&filled()).parts().iter().flat_map(|part| part.to_vec()).collect()
    }

    #[test]
    fn a_sidecar_reads_back_in_every_detail_and_knows_its_segment() {
        let sidecar = Sidecar { sequence: 4, salt: 9, end: 200_000 };
        let bytes = written(sidecar);
        let read = sidecar.decode(&bytes, Detail::Lengths).expect("as written");
        assert_eq!(read.groups[3].stretches, filled().groups[3].stretches);
        assert_eq!(read.groups[9].cut_from, Some(2));
        let marks = sidecar.decode(&bytes, Detail::Marks).expect("as written");
        assert_eq!(marks.seek(3, 300).map(|found| found.1), filled().seek(3, 300).map(|found| found.1));
        let heads = sidecar.decode(&bytes[..bytes.len() - 8], Detail::Stretches).expect("the first part is enough");
        assert_eq!((heads.groups[3].stretches[0].records, heads.groups[3].stretches[0].marks.len()), (500, 0));
        assert!(Sidecar { end: 1, ..sidecar }.decode(&bytes, Detail::Stretches).is_err());
        for length in 0..bytes.len() {
            assert!(sidecar.decode(&bytes[..length], Detail::Marks).is_err(), "{length}");
        }
    }

    #[test]
    fn every_flipped_byte_is_noticed() {
        let sidecar = Sidecar { sequence: 4, salt: 9, end: 200_000 };
        let mut bytes = written(sidecar);
        for at in 0..bytes.len() {
            bytes[at] ^= 4;
            assert!(sidecar.decode(&bytes, Detail::Marks).is_err(), "{at}");
            bytes[at] ^= 4;
        }
    }
}
