//! Reading one partition out of a segment: from commit to commit, hopping over the runs of other partitions.

use std::ops::ControlFlow;
use std::path::Path;

use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::hop::Hop;
use crate::info::{ReadLimits, RecordView};
use crate::record::{self, CommitBody, Fault, HEADER_BYTES, LOST_OFFSET, RecordKind};
use crate::window::Window;

/// What a read still wants, over all the segments that it visits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor {
    pub partition: u32,
    /// The next offset to hand over.
    pub next: u64,
    /// The offset to stop at: what was synced when the read began.
    pub until: u64,
    pub limits: ReadLimits,
    /// Handed over so far.
    pub messages: u64,
    pub bytes: u64,
    /// A limit was met, or the caller broke off.
    pub done: bool,
    /// Passed over, because somebody has accepted their loss: the first offset, and how many.
    pub lost: Option<(u64, u64)>,
}

impl Cursor {
    pub(crate) fn wants_more(&self) -> bool {
        !self.done && self.next < self.until && self.messages < self.limits.messages_max
    }

    /// At least one record is handed over, however large.
    fn has_room(&self, body_bytes: usize) -> bool {
        self.messages == 0 || self.bytes.saturating_add(body_bytes as u64) <= self.limits.bytes_max
    }

    fn pass_over(&mut self) {
        let (first, count) = self.lost.unwrap_or((self.next, 0));
        self.lost = Some((first, count + 1));
        self.next += 1;
    }

    fn hand(&mut self, record: RecordView<'_>, each: &mut impl FnMut(RecordView<'_>) -> ControlFlow<()>) {
        if !self.has_room(record.body.len()) {
            self.done = true;
            return;
        }
        self.next += 1;
        self.messages += 1;
        self.bytes += record.body.len() as u64;
        self.done = each(record).is_break();
    }
}

/// A part of a segment file that holds whole records.
#[derive(Debug)]
pub(crate) struct Walk<'f> {
    window: Window<'f>,
    path: &'f Path,
    salt: u32,
    hop: Hop,
    end: u64,
}

impl<'f> Walk<'f> {
    /// A walk of `at..end`; `at` is where a record starts.
    pub(crate) fn new(file: &'f dyn DiskFile, path: &'f Path, salt: u32, at: u64, end: u64) -> Self {
        let window = Window::new(file, path, end).with_chunk(end.saturating_sub(at));
        Self { window, path, salt, hop: Hop::new(at), end }
    }

    /// Hands records over until the cursor wants no more or the part ends.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub(crate) fn advance(
        &mut self,
        cursor: &mut Cursor,
        each: &mut impl FnMut(RecordView<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        while cursor.wants_more() && self.hop.at < self.end {
            if let Err(fault) = self.step(cursor, each)? {
                return Err(StoreError::corrupt(self.path, self.hop.at, fault.to_string()));
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        cursor: &mut Cursor,
        each: &mut impl FnMut(RecordView<'_>) -> ControlFlow<()>,
    ) -> Result<Result<(), Fault>, StoreError> {
        let total = match record::peek_bytes(self.window.slice(self.hop.at, HEADER_BYTES)?) {
            Ok(total) => total,
            Err(fault) => return Ok(Err(fault)),
        };
        let (header, body) = match record::decode(self.window.slice(self.hop.at, total)?, self.salt) {
            Ok(record) => record,
            Err(fault) => return Ok(Err(fault)),
        };
        let behind = self.hop.at + total as u64;
        match header.kind {
            RecordKind::Commit => match CommitBody::decode(body) {
                Ok(commit) => self.hop.enter(&commit, behind, cursor.partition),
                Err(fault) => return Ok(Err(fault)),
            },
            RecordKind::Data => {
                if header.partition == cursor.partition {
                    if header.offset > cursor.next {
                        return Ok(Err(Fault::Misplaced("records are missing before this one")));
                    }
                    if header.offset == cursor.next {
                        let (offset, appended_at_us) = (header.offset, header.appended_at_us);
                        let (message_id, slot) = (header.message_id, header.slot);
                        cursor.hand(RecordView { offset, appended_at_us, message_id, slot, body }, each);
                    }
                }
                self.hop.pass(behind);
            }
            RecordKind::Lost => {
                // Its offset was somebody's once: it is passed over, and given to nobody else.
                let is_next = (header.partition, header.offset) == (cursor.partition, cursor.next);
                if is_next && header.message_id == LOST_OFFSET {
                    cursor.pass_over();
                }
                self.hop.pass(behind);
            }
            _ => return Ok(Err(Fault::Misplaced("a record of another kind belongs here"))),
        }
        Ok(Ok(()))
    }
}
