//! Following the entries of one group through a part of a segment.

use std::path::Path;

use super::entry::EntryView;
use super::state::Place;
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::hop::Hop;
use crate::record::{self, CommitBody, Fault, HEADER_BYTES, RecordHeader, RecordKind};
use crate::window::Window;

/// A walk that goes forward only.
#[derive(Debug)]
pub(crate) struct Walk<'f> {
    window: Window<'f>,
    path: &'f Path,
    salt: u32,
    group: u32,
    hop: Hop,
    end: u64,
}

/// What lies where the walk stands.
enum Step {
    /// An entry that is wanted, of this many bytes on disk.
    Found(usize),
    /// Something else; the walk went on.
    Passed,
}

impl<'f> Walk<'f> {
    /// A walk of the part that `place` names, whose entries are likely to be wanted one after the other.
    pub(crate) fn through(place: &'f Place, salt: u32, group: usize, likely_bytes: u64) -> Self {
        let window = Window::new(&*place.file as &dyn DiskFile, &place.path, place.end).with_chunk(likely_bytes);
        Self::new(window, place, salt, group)
    }

    /// A walk of the part that `place` names, to look for an entry here and there.
    pub(crate) fn here_and_there(place: &'f Place, salt: u32, group: usize) -> Self {
        let window = Window::new(&*place.file as &dyn DiskFile, &place.path, place.end);
        Self::new(window.for_leaps(Self::LEAP_BYTES), place, salt, group)
    }

    /// From one mark to the next, and an entry of usual size.
    const LEAP_BYTES: usize = 10 << 10;

    fn new(window: Window<'f>, place: &'f Place, salt: u32, group: usize) -> Self {
        Self { window, path: &place.path, salt, group: group as u32, hop: Hop::new(place.from), end: place.end }
    }

    /// Goes on at `position`, where a record starts, unless the walk is behind it already.
    pub(crate) fn jump(&mut self, position: u64) {
        if position > self.hop.at {
            self.hop = Hop::new(position);
        }
    }

    /// The first entry at or behind `index`, verified. Entries that are passed over are not.
    ///
    /// # Errors
    /// `Corrupt` (also when there is none), `Io`.
    pub(crate) fn find(&mut self, index: u64) -> Result<EntryView<'_>, StoreError> {
        loop {
            match self.step(index)? {
                Ok(Step::Found(total)) => return self.entry(total),
                Ok(Step::Passed) => {}
                Err(fault) => return Err(StoreError::corrupt(self.path, self.hop.at, fault.to_string())),
            }
        }
    }

    fn entry(&mut self, total: usize) -> Result<EntryView<'_>, StoreError> {
        let (path, at, salt) = (self.path, self.hop.at, self.salt);
        let record = self.window.slice(at, total)?;
        let entry = record::decode(record, salt).and_then(|(header, body)| EntryView::of(&header, body));
        entry.map_err(|fault| StoreError::corrupt(path, at, fault.to_string()))
    }

    fn step(&mut self, index: u64) -> Result<Result<Step, Fault>, StoreError> {
        if self.hop.at >= self.end {
            return Ok(Err(Fault::Misplaced("the segment ends before an entry that belongs here")));
        }
        let header = self.window.slice(self.hop.at, HEADER_BYTES)?;
        let (total, peeked) = match record::peek_bytes(header).and_then(|total| Ok((total, peek(header)?))) {
            Ok(peeked) => peeked,
            Err(fault) => return Ok(Err(fault)),
        };
        let behind = self.hop.at + total as u64;
        match peeked {
            Peeked::Commit => {
                let decoded = record::decode(self.window.slice(self.hop.at, total)?, self.salt);
                match decoded.and_then(|(_, body)| CommitBody::decode(body)) {
                    Ok(commit) => self.hop.enter(&commit, behind, self.group),
                    Err(fault) => return Ok(Err(fault)),
                }
            }
            Peeked::Entry { group, index: found } if group == self.group && found >= index => {
                return Ok(Ok(Step::Found(total)));
            }
            Peeked::Entry { .. } | Peeked::Other => self.hop.pass(behind),
        }
        Ok(Ok(Step::Passed))
    }
}

/// What a header that is not verified claims to be. A wrong claim leads the walk astray at most: what it hands over is
/// verified, and the walk is told which index to come to.
enum Peeked {
    Commit,
    Entry { group: u32, index: u64 },
    Other,
}

fn peek(header: &[u8]) -> Result<Peeked, Fault> {
    match RecordHeader::peek(header)? {
        (RecordKind::Commit, ..) => Ok(Peeked::Commit),
        (RecordKind::Data, group, index) => Ok(Peeked::Entry { group, index }),
        _ => Ok(Peeked::Other),
    }
}
