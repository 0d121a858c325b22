//! What goes to one other node over one connection: short messages first, batches in parts, each named behind its last part.

use std::collections::VecDeque;

use lapwing_peer::{BatchPart, EncodeError, EntryHeader, Fault, Frame, GroupNumber, List, Raft, Window};
use lapwing_raft::{EntryKind, Message, MessageKind};

use crate::lag::{Fetched, Lacking, NamedBatch, batches_of};
use crate::tail::Tail;
use crate::translate::{Outgoing, headers, memberships, to_frame};

/// Messages with batches that wait for one node; those on top are dropped, and the engine sends them again.
const WAITING_MAX: usize = 4096;
/// Bytes of a batch in one frame: between two of them there is room for a heartbeat.
const PART_BYTES: usize = 64 << 10;

/// The sending end of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    frame_bytes_max: usize,
    window: Window,
    /// Without batches.
    short: VecDeque<Outgoing>,
    waiting: VecDeque<Outgoing>,
    /// The message whose batches are going out.
    going: Option<Going>,
    /// Its batches are all there: it is named with the next frame.
    ready: Vec<Outgoing>,
    told_done_bytes: u64,
    fetched: Fetched,
}

/// A message whose batches are going out: once a part of one has gone, all go, and are named.
#[derive(Debug)]
struct Going {
    outgoing: Outgoing,
    batches: VecDeque<NamedBatch>,
    /// Bytes of the first of `batches` that have gone.
    gone_bytes: usize,
}

impl Sender {
    /// Of a new connection; the two bounds are what the other node's hello said.
    pub(crate) fn new(frame_bytes_max: usize, window_bytes: u64) -> Sender {
        Sender {
            frame_bytes_max,
            window: Window::new(window_bytes),
            short: VecDeque::new(),
            waiting: VecDeque::new(),
            going: None,
            ready: Vec::new(),
            told_done_bytes: 0,
            fetched: Fetched::new(),
        }
    }

    /// Has a message sent. False: too much waits, and it is dropped.
    pub(crate) fn push(&mut self, outgoing: Outgoing) -> bool {
        let has_batch = outgoing.message.entries.iter().any(|entry| matches!(entry.kind, EntryKind::Batch(_)));
        if outgoing.message.kind == MessageKind::Append && self.joins(&outgoing) {
            return true;
        }
        let line = if has_batch || self.has_appends(&outgoing) { &mut self.waiting } else { &mut self.short };
        let has_room = line.len() < WAITING_MAX;
        if has_room {
            line.push_back(outgoing);
        }
        has_room
    }

    /// An append of a group of which others wait goes no way of its own. One that says nothing that these do not say only
    /// brings them its commit index: passing them it would be refused, and all of them be sent again. One that begins where
    /// others begin, or before, takes their place. False: it is to wait, or to go.
    fn joins(&mut self, outgoing: &Outgoing) -> bool {
        let Outgoing { group, message } = outgoing;
        let last = |message: &Message| message.entries.last().map_or(message.index, |entry| entry.index);
        let is_same = |other: &Outgoing| {
            let Outgoing { group: of, message: other } = other;
            of == group && other.kind == MessageKind::Append && other.term == message.term
        };
        let going = self.going.iter_mut().map(|going| &mut going.outgoing).chain(&mut self.ready);
        let mut others: Vec<&mut Outgoing> = going.chain(&mut self.waiting).filter(|other| is_same(other)).collect();
        let is_said = match (others.first(), others.last()) {
            (Some(first), Some(end)) => message.index >= first.message.index && last(message) <= last(&end.message),
            _ => return false,
        };
        if is_said {
            let end = others.last_mut().map(|end| &mut end.message.commit);
            end.into_iter().for_each(|commit| *commit = message.commit.max(*commit));
            return true;
        }
        self.waiting.retain(|other| !(is_same(other) && other.message.index >= message.index));
        false
    }

    /// Whether this is an append, and others of its group wait.
    fn has_appends(&self, outgoing: &Outgoing) -> bool {
        let is_append = |other: &Outgoing| other.message.kind == MessageKind::Append && other.group == outgoing.group;
        let going = self.going.iter().map(|going| &going.outgoing);
        is_append(outgoing) && going.chain(&self.waiting).any(is_append)
    }

    /// The other node has said how much it is done with.
    pub(crate) fn heard(&mut self, done_bytes: u64) -> Result<(), Fault> {
        self.window.hear(done_bytes)
    }

    /// Bytes of batches that have begun to go and that the other node is not done with.
    pub(crate) fn under_way_bytes(&self) -> u64 {
        self.window.under_way_bytes()
    }

    /// Bytes of batches that have begun to go since the connection began.
    pub(crate) fn begun_bytes(&self) -> u64 {
        self.window.under_way_bytes() + self.window.done()
    }

    /// Appends frames to `out` until it has `bytes_max` bytes, or nothing more may go. `done_bytes`: how much this node is done
    /// with. Says what is lacking here for the next message, if that is why nothing goes.
    ///
    /// # Errors
    /// A message that no frame can have: a defect, since the engine's bounds are the frames'.
    pub(crate) fn fill<'t>(
        &mut self,
        tail_of: &dyn Fn(GroupNumber) -> Option<&'t Tail>,
        done_bytes: u64,
        bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> Result<Option<Lacking>, EncodeError> {
        let mut lacking = None;
        while out.len() < bytes_max {
            if !self.short.is_empty() || !self.ready.is_empty() {
                self.put_messages(done_bytes, out)?;
            } else if self.going.is_some() {
                if !self.put_part(out)? {
                    break;
                }
            } else {
                lacking = self.begin(tail_of);
                if lacking.is_some() || (self.going.is_none() && self.ready.is_empty()) {
                    break;
                }
            }
        }
        if out.len() < bytes_max && done_bytes != self.told_done_bytes {
            self.put_messages(done_bytes, out)?;
        }
        Ok(lacking)
    }

    /// Takes up the next message with batches, once all of them can be had.
    fn begin<'t>(&mut self, tail_of: &dyn Fn(GroupNumber) -> Option<&'t Tail>) -> Option<Lacking> {
        while let Some(outgoing) = self.waiting.pop_front() {
            let Some(tail) = tail_of(outgoing.group) else { continue };
            match batches_of((outgoing.group, tail), &self.fetched, &outgoing.message) {
                Ok(batches) => {
                    self.forget_fetched(&outgoing);
                    self.going = Some(Going { outgoing, batches: batches.into(), gone_bytes: 0 });
                    return None;
                }
                Err(Some(lacking)) => {
                    self.waiting.push_front(outgoing);
                    return Some(lacking);
                }
                // Another leader has put something in the place of an entry: the message is void.
                Err(None) => {}
            }
        }
        None
    }

    /// What was lacking for the next message was read; where the journal has not all of it, the message is void.
    pub(crate) fn provide<'t>(
        &mut self,
        lacking: Lacking,
        found: Vec<NamedBatch>,
        tail_of: &dyn Fn(GroupNumber) -> Option<&'t Tail>,
    ) {
        let Lacking { group, .. } = lacking;
        self.fetched.extend(found.into_iter().map(|found| ((group, found.raft_index, found.term), found.batch)));
        if self.going.is_none() && self.begin(tail_of) == Some(lacking) {
            self.waiting.pop_front();
        }
    }

    /// What was read for this message, or for one before it of the same group.
    fn forget_fetched(&mut self, outgoing: &Outgoing) {
        let last = outgoing.message.entries.last().map_or(0, |last| last.index);
        self.fetched.retain(|(group, raft_index, _), _| *group != outgoing.group || *raft_index > last);
    }

    /// Appends the next part of the batch that is going out. False: the window has no room for it. Where batches before it in
    /// the same message fill the window these are named first: room is made of what was named only.
    fn put_part(&mut self, out: &mut Vec<u8>) -> Result<bool, EncodeError> {
        let Some(going) = &mut self.going else { return Ok(false) };
        let Some(NamedBatch { raft_index, term, batch }) = going.batches.front() else {
            self.ready.extend(self.going.take().map(|going| going.outgoing));
            return Ok(true);
        };
        let total_bytes = batch.head().bytes;
        if going.gone_bytes == 0 {
            if !self.window.has_room(total_bytes) {
                let before = going.outgoing.split_before(*raft_index);
                let is_any = before.is_some();
                self.ready.extend(before);
                return Ok(is_any);
            }
            self.window.begin(total_bytes);
        }
        let rest = &batch.bytes()[going.gone_bytes..];
        let part_bytes = rest.len().min(PART_BYTES.min(self.frame_bytes_max / 2));
        let part = BatchPart {
            group: going.outgoing.group,
            term: *term,
            raft_index: *raft_index,
            total_bytes,
            first_byte: going.gone_bytes as u32,
            bytes: &rest[..part_bytes],
        };
        Frame::BatchPart(part).encode(self.frame_bytes_max, out)?;
        going.gone_bytes += part_bytes;
        if going.gone_bytes == batch.bytes().len() {
            going.batches.pop_front();
            going.gone_bytes = 0;
        }
        Ok(true)
    }

    /// Appends one frame with all short messages and those whose batches have gone, as many as it has room for.
    fn put_messages(&mut self, done_bytes: u64, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let mut messages: Vec<Outgoing> = std::mem::take(&mut self.ready);
        messages.extend(self.short.drain(..));
        let memberships: Vec<_> = messages.iter().map(|outgoing| memberships(&outgoing.message)).collect();
        let headers: Vec<Vec<EntryHeader<'_>>> =
            messages.iter().zip(&memberships).map(|(outgoing, bytes)| headers(&outgoing.message, bytes)).collect();
        let framed: Vec<_> =
            messages.iter().zip(&headers).filter_map(|(outgoing, headers)| to_frame(outgoing, headers)).collect();
        let mut rest = framed.as_slice();
        loop {
            let (now, later) = rest.split_at(Raft::fitting(rest, self.frame_bytes_max).max(1).min(rest.len()));
            Frame::Raft(Raft { done_bytes, messages: List::from_slice(now) }).encode(self.frame_bytes_max, out)?;
            self.told_done_bytes = done_bytes;
            rest = later;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}
