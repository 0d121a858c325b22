//! Taking in a snapshot: a thread for each connection. What has come of it stays when the connection breaks, for the next one.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lapwing_peer::{
    Frame, SnapshotIntake, SnapshotLimits, SnapshotRefusal, SnapshotReply, Stage, Verdict, read_kept_records,
};
use lapwing_raft::Snapshot;
use lapwing_store::StoreError;
use lapwing_store::journal::{Entry, JournalReader, Received, ReceivedDraft};

use super::said::Said;
use super::slot::{Partial, Slot, lock};
use super::wire::{Broken, Wire};
use super::{Arrived, Word};
use crate::log::snapshot::store_error;
use crate::mailbox::Bell;
use crate::replica::{ReplicaError, common_raft_index, journal_group, moved_state};

/// How long the other node may be silent.
const SILENCE_MAX: Duration = Duration::from_secs(20);
/// How long the raft thread and the disk may take to have it count.
const INSTALL_MAX: Duration = Duration::from_secs(240);
/// How often it is looked meanwhile whether this node ends.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What a disk may have room for is for the disk to say.
const LIMITS: SnapshotLimits = SnapshotLimits { bytes_max: 1 << 44, chunks_max: u32::MAX };

/// What all threads that receive have in common.
#[derive(Clone)]
pub(super) struct Receiving {
    pub(super) reader: JournalReader,
    /// The disk is low.
    pub(super) is_low: Arc<AtomicBool>,
    pub(super) slot: Arc<Mutex<Slot>>,
    pub(super) words: Sender<Word>,
    pub(super) bell: Bell,
    pub(super) stopping: Arc<AtomicBool>,
}

/// Why nothing comes of a snapshot.
enum Failed {
    Broken,
    Refused(SnapshotRefusal),
    Own(ReplicaError),
}

impl Receiving {
    /// Takes what comes over a connection.
    pub(super) fn run(&self, mut wire: Wire) {
        let said = wire.receive(Stage::Snapshot, SILENCE_MAX, |frame| match frame {
            Frame::SnapshotBegin(begin) => Said::of(begin),
            _ => None,
        });
        // Nobody answers a node that does not know what to say.
        let Ok(Some(said)) = said else { return };
        let verdict = match self.take(&mut wire, &said) {
            Ok(()) => Verdict::Accepted,
            Err(Failed::Refused(refusal)) => Verdict::Refused(refusal),
            // It comes again, over another connection.
            Err(Failed::Broken) => return,
            Err(Failed::Own(error)) if error.is_retryable() => Verdict::Refused(SnapshotRefusal::NoRoom),
            Err(Failed::Own(error)) => return self.say(Word::Failed(error)),
        };
        if let Verdict::Refused(refusal) = verdict {
            self.say(Word::Refused(refusal));
        }
        // Who does not hear it asks again.
        if reply(&mut wire, &said, verdict).is_ok() {
            wire.end();
        }
    }

    fn take(&self, wire: &mut Wire, said: &Said) -> Result<(), Failed> {
        self.look_for_room()?;
        if said.covered.raft_index <= self.reader.group(journal_group(said.group))?.purged_raft_index {
            return Err(Failed::Refused(SnapshotRefusal::Stale));
        }
        let before = Slot::take(&self.slot).ok_or(Failed::Refused(SnapshotRefusal::Busy))?;
        // It is free again whatever comes of this, and has what came where the connection breaks.
        let mut kept = None;
        let taken = self.take_into(wire, said, before.filter(|partial| partial.group == said.group), &mut kept);
        let is_broken = matches!(taken, Err(Failed::Broken));
        *lock(&self.slot) = match kept.filter(|_| is_broken) {
            Some(partial) => Slot::Partial(Box::new(partial), Instant::now()),
            None => Slot::Free,
        };
        taken
    }

    fn take_into(
        &self,
        wire: &mut Wire,
        said: &Said,
        before: Option<Partial>,
        kept: &mut Option<Partial>,
    ) -> Result<(), Failed> {
        let progress = before.as_ref().map(|partial| partial.progress);
        let mut intake = SnapshotIntake::begin(&said.frame(), LIMITS, progress).map_err(Failed::Refused)?;
        let mut draft = match before.filter(|_| intake.next_chunk() > 0) {
            Some(partial) => {
                self.say(Word::Resumed);
                partial.draft
            }
            None => self.draft(said)?,
        };
        let taken = self.take_chunks(wire, said, &mut intake, &mut draft);
        match taken {
            Ok(()) => self.hand_over(said, draft.finish().map_err(ReplicaError::from)?),
            Err(failed) => {
                *kept = Some(Partial { group: said.group, progress: intake.progress(), draft });
                Err(failed)
            }
        }
    }

    fn draft(&self, said: &Said) -> Result<ReceivedDraft, Failed> {
        let common = common_raft_index(&self.reader, said.group)?;
        // Room is made as it comes: what is said of it is a bound.
        let draft = self.reader.receive_snapshot(journal_group(said.group), said.covered, common, 0);
        let mut draft = draft.map_err(ReplicaError::from)?;
        said.preface().write(&mut draft).map_err(|error| ReplicaError::Store(store_error(error)))?;
        Ok(draft)
    }

    /// Takes chunks up to the end.
    fn take_chunks(
        &self,
        wire: &mut Wire,
        said: &Said,
        intake: &mut SnapshotIntake,
        draft: &mut ReceivedDraft,
    ) -> Result<(), Failed> {
        reply(wire, said, Verdict::From(intake.next_chunk()))?;
        loop {
            let is_over = wire.receive(Stage::Snapshot, SILENCE_MAX, |frame| match frame {
                Frame::SnapshotChunk(chunk) => {
                    let is_state = intake.is_state_next();
                    // A chunk that is not the next one is a connection that has lost something.
                    let is_next = intake.chunk(chunk).is_ok();
                    is_next.then_some(()).ok_or(Failed::Broken)?;
                    take_chunk(draft, said, is_state, chunk.bytes).map(|()| false)
                }
                Frame::SnapshotEnd(end) => match intake.end(end) {
                    Ok(()) => Ok(true),
                    Err(_) => Err(Failed::Refused(SnapshotRefusal::Damaged)),
                },
                _ => Err(Failed::Broken),
            });
            if is_over.map_err(Failed::from)?? {
                return Ok(());
            }
            self.look_for_room()?;
        }
    }

    /// It is durable: has it count, and waits for that.
    fn hand_over(&self, said: &Said, received: Received) -> Result<(), Failed> {
        let state = moved_state(&received, said.group)?;
        let snapshot_bytes = received.snapshot().map_err(ReplicaError::from)?.file_bytes();
        let snapshot = Snapshot { at: said.position(), membership: said.membership.clone() };
        let (reply, answer) = sync_channel(1);
        let group = said.group;
        self.say(Word::Arrived(Box::new(Arrived { group, snapshot, received, state, snapshot_bytes, reply })));
        let deadline = Instant::now() + INSTALL_MAX;
        loop {
            match answer.recv_timeout(LOOK_EVERY) {
                Ok(true) => return Ok(()),
                Ok(false) | Err(RecvTimeoutError::Disconnected) => return Err(Failed::Refused(SnapshotRefusal::Stale)),
                Err(RecvTimeoutError::Timeout) => {
                    if self.stopping.load(Ordering::Relaxed) || Instant::now() > deadline {
                        return Err(Failed::Broken);
                    }
                }
            }
        }
    }

    fn look_for_room(&self) -> Result<(), Failed> {
        match self.is_low.load(Ordering::Relaxed) {
            true => Err(Failed::Refused(SnapshotRefusal::NoRoom)),
            false => Ok(()),
        }
    }

    fn say(&self, word: Word) {
        // The raft thread has ended only where this one is to end, too.
        let _ = self.words.send(word);
        self.bell.ring();
    }
}

fn reply(wire: &mut Wire, said: &Said, verdict: Verdict) -> Result<(), Broken> {
    let (group, snapshot) = (said.group, said.snapshot);
    wire.send(&Frame::SnapshotReply(SnapshotReply { group, snapshot, verdict }))
}

/// Takes a chunk of the state, or one of records.
fn take_chunk(draft: &mut ReceivedDraft, said: &Said, is_state: bool, bytes: &[u8]) -> Result<(), Failed> {
    if is_state {
        let written = draft.write_all(bytes);
        return written.map_err(|error| ReplicaError::Store(store_error(error)).into());
    }
    let records = read_kept_records(bytes).map_err(|_| Failed::Refused(SnapshotRefusal::Damaged))?;
    for kept in records.iter() {
        let record = kept.record;
        let kept = draft.keep(Entry {
            group: journal_group(said.group),
            index: kept.sequence,
            term: kept.term,
            // What is purged has none that anybody asks for.
            raft_index: 0,
            slot: record.slot,
            message_id: record.message_id,
            appended_at_us: record.appended_at_us,
            body: record.body,
        });
        kept.map_err(|error| match error {
            StoreError::NotNext { .. } => Failed::Refused(SnapshotRefusal::Damaged),
            other => ReplicaError::from(other).into(),
        })?;
    }
    Ok(())
}

impl From<ReplicaError> for Failed {
    fn from(error: ReplicaError) -> Self {
        match error {
            // The log has gone on meanwhile.
            ReplicaError::Store(StoreError::Raft(_)) => Failed::Refused(SnapshotRefusal::Stale),
            ReplicaError::Group { .. } => Failed::Refused(SnapshotRefusal::Damaged),
            own => Failed::Own(own),
        }
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        ReplicaError::from(error).into()
    }
}

impl From<Broken> for Failed {
    fn from(_: Broken) -> Self {
        Failed::Broken
    }
}
