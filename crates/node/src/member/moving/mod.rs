//! Snapshots travel: to a follower that lacks what the log no longer has, over a connection of their own, from thread to thread.
//!
//! - The raft thread begins a transfer when an engine says that a follower lags, one at a time for each follower, and goes on
//!   meanwhile: nothing here waits on it.
//! - The log behind what was sent is kept while it goes and for a minute after: else the follower would need the next one at once.
//! - Whoever receives has it on disk first, then the engine is asked, then it counts with one commit ([`WriteQueue`]).
//!
//! [`WriteQueue`]: crate::replica::WriteQueue

mod chunks;
mod receive;
mod said;
mod send;
mod slot;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use lapwing_peer::{GroupNumber, NodeId, SnapshotRefusal};
use lapwing_raft::Snapshot;
use lapwing_store::journal::{JournalReader, Received};
use lapwing_store::random_bytes;
use lapwing_transport::PeerTls;

use super::links::{ForSnapshot, Own};
use crate::mailbox::Bell;
use crate::replica::{GroupState, ReplicaError};
use receive::Receiving;
use send::{Sending, Sent, Unsent};
use slot::Slot;
use wire::Wire;

/// Connections over which snapshots come at one time; all but one of them are refused soon.
const RECEIVING_MAX: usize = 8;
/// How long the log behind a snapshot is kept when it has been sent.
const PIN: Duration = Duration::from_secs(60);
/// How long a follower is left alone that did not take one; that has no room for it.
const PAUSE: Duration = Duration::from_millis(500);
const NO_ROOM_PAUSE: Duration = Duration::from_secs(10);

/// What threads here have to say.
pub(super) enum Word {
    /// A transfer is over.
    Sent(GroupNumber, NodeId, Result<Sent, Unsent>),
    /// A snapshot has come, and is durable.
    Arrived(Box<Arrived>),
    /// One goes on where a connection broke.
    Resumed,
    /// One was not taken.
    Refused(SnapshotRefusal),
    /// This node's own log.
    Failed(ReplicaError),
}

/// A snapshot from a leader that is durable and does not count yet.
pub(super) struct Arrived {
    pub(super) group: GroupNumber,
    pub(super) snapshot: Snapshot,
    pub(super) received: Received,
    pub(super) state: GroupState,
    pub(super) snapshot_bytes: u64,
    /// Told whether it counts.
    pub(super) reply: SyncSender<bool>,
}

/// What was moved since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MovedCounts {
    pub(super) sent: u64,
    pub(super) sent_bytes: u64,
    pub(super) unsent: u64,
    pub(super) received: u64,
    pub(super) resumed: u64,
    pub(super) refused: u64,
}

impl Unsent {
    /// How long who did not take it is left alone.
    fn pause(&self) -> Duration {
        match self {
            Unsent::Refused(SnapshotRefusal::NoRoom | SnapshotRefusal::TooLarge) => NO_ROOM_PAUSE,
            _ => PAUSE,
        }
    }
}

impl MovedCounts {
    /// By name, for people and programs.
    pub(super) fn named(&self) -> BTreeMap<&'static str, u64> {
        let MovedCounts { sent, sent_bytes, unsent, received, resumed, refused } = *self;
        let named = [("sent", sent), ("sent_bytes", sent_bytes), ("unsent", unsent)];
        named.into_iter().chain([("received", received), ("resumed", resumed), ("refused", refused)]).collect()
    }
}

/// The raft thread's end.
pub(super) struct Moving {
    own: Own,
    tls: Arc<PeerTls>,
    reader: JournalReader,
    bytes_per_s: u64,
    receiving: Receiving,
    heard: Receiver<Word>,
    words: Sender<Word>,
    bell: Bell,
    stopping: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    receivers: usize,
    /// Who needs a snapshot of what, and who gets one now.
    lagging: BTreeSet<(NodeId, GroupNumber)>,
    going: BTreeMap<NodeId, GroupNumber>,
    /// Who is left alone for a moment.
    paused: BTreeMap<NodeId, Instant>,
    /// Who waits for a newer snapshot of what. Other groups go meanwhile: whoever joins would wait for each of them in turn.
    awaited: BTreeMap<(NodeId, GroupNumber), Instant>,
    /// Groups whose log is kept, and until when.
    pinned: BTreeMap<GroupNumber, Instant>,
    /// Snapshots that have come and wait for the engine.
    pub(super) arrived: VecDeque<Arrived>,
    /// Groups of which a newer snapshot is to be made.
    pub(super) wanted: BTreeSet<GroupNumber>,
    pub(super) counts: MovedCounts,
    pub(super) last_refusal: Option<String>,
}

impl Moving {
    pub(super) fn new(own: Own, tls: Arc<PeerTls>, reader: JournalReader, bytes_per_s: u64, bell: Bell) -> Moving {
        let (words, heard) = channel();
        let (is_low, stopping) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let receiving = Receiving {
            reader: reader.clone(),
            is_low,
            slot: Arc::<Mutex<Slot>>::default(),
            words: words.clone(),
            bell: bell.clone(),
            stopping: stopping.clone(),
        };
        Moving {
            own,
            tls,
            reader,
            bytes_per_s,
            receiving,
            heard,
            words,
            bell,
            stopping,
            threads: vec![],
            receivers: 0,
            lagging: BTreeSet::new(),
            going: BTreeMap::new(),
            paused: BTreeMap::new(),
            awaited: BTreeMap::new(),
            pinned: BTreeMap::new(),
            arrived: VecDeque::new(),
            wanted: BTreeSet::new(),
            counts: MovedCounts::default(),
            last_refusal: None,
        }
    }

    /// An engine says that a follower lacks what its log no longer has.
    pub(super) fn lags(&mut self, group: GroupNumber, node: NodeId) {
        self.lagging.insert((node, group));
    }

    /// Whether the log of a group is kept for who has just been sent what lies before it.
    pub(super) fn is_pinned(&self, group: GroupNumber) -> bool {
        self.going.values().any(|going| *going == group)
            || self.pinned.get(&group).is_some_and(|until| *until > Instant::now())
    }

    pub(super) fn set_low(&self, is_low: bool) {
        self.receiving.is_low.store(is_low, Ordering::Relaxed);
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Option<Word> {
        let word = self.heard.try_recv().ok()?;
        match &word {
            Word::Sent(group, node, result) => {
                self.going.remove(node);
                self.lagging.remove(&(*node, *group));
                match result {
                    Ok(sent) => {
                        self.pinned.insert(*group, Instant::now() + PIN);
                        self.counts.sent += 1;
                        self.counts.sent_bytes += sent.bytes;
                    }
                    Err(unsent) => {
                        self.counts.unsent += 1;
                        self.last_refusal = Some(unsent.to_string());
                        let until = Instant::now() + unsent.pause();
                        if matches!(unsent, Unsent::None) {
                            self.wanted.insert(*group);
                            self.awaited.insert((*node, *group), until);
                        } else {
                            self.paused.insert(*node, until);
                        }
                    }
                }
            }
            Word::Arrived(_) | Word::Failed(_) => {}
            Word::Resumed => self.counts.resumed += 1,
            Word::Refused(refusal) => {
                self.counts.refused += 1;
                self.last_refusal = Some(refusal.to_string());
            }
        }
        Some(word)
    }

    /// Begins what is due. `leads`: in which term this node leads a group; `addresses`: where a node is that is connected. The log
    /// of a group is not kept for the sake of one that is away.
    ///
    /// # Errors
    /// No thread can be had, or no random number.
    pub(super) fn tend(
        &mut self,
        level: u16,
        leads: impl Fn(GroupNumber) -> Option<u64>,
        addresses: impl Fn(NodeId) -> Option<Vec<String>>,
    ) -> Result<(), ReplicaError> {
        Slot::tend(&self.receiving.slot);
        self.join_ended();
        self.lagging.retain(|(_, group)| leads(*group).is_some());
        let now = Instant::now();
        self.paused.retain(|_, until| *until > now);
        self.awaited.retain(|_, until| *until > now);
        let due: Vec<(NodeId, GroupNumber)> = self.lagging.iter().copied().collect();
        for (node, group) in due {
            let is_awaited = self.awaited.contains_key(&(node, group));
            if self.going.contains_key(&node) || self.paused.contains_key(&node) || is_awaited {
                continue;
            }
            if let Some((leader_term, addresses)) = leads(group).zip(addresses(node)) {
                self.begin(level, (node, addresses), (group, leader_term))?;
            }
        }
        Ok(())
    }

    fn begin(
        &mut self,
        level: u16,
        (to, addresses): (NodeId, Vec<String>),
        (group, leader_term): (GroupNumber, u64),
    ) -> Result<(), ReplicaError> {
        let sending = Sending {
            own: self.own.clone(),
            level,
            tls: self.tls.clone(),
            reader: self.reader.clone(),
            group,
            leader_term,
            to,
            addresses,
            snapshot: u64::from_le_bytes(random_bytes()?),
            bytes_per_s: self.bytes_per_s,
            stopping: self.stopping.clone(),
        };
        let (words, bell) = (self.words.clone(), self.bell.clone());
        self.going.insert(to, group);
        self.spawn("lapwing-send", move || {
            // The raft thread has ended only where this one is to end, too.
            let _ = words.send(Word::Sent(group, to, sending.run()));
            bell.ring();
        })
    }

    /// Somebody has come with a snapshot. Too many at once are cut: they come again.
    ///
    /// # Errors
    /// No thread can be had.
    pub(super) fn receive(&mut self, link: ForSnapshot) -> Result<(), ReplicaError> {
        self.join_ended();
        if self.receivers >= RECEIVING_MAX {
            return Ok(());
        }
        let ForSnapshot { stream, input, output } = link;
        let receiving = self.receiving.clone();
        self.receivers += 1;
        self.spawn("lapwing-receive", move || {
            // A connection that cannot be gone on with comes again.
            if let Ok(wire) = Wire::new(stream, (input, output), receiving.stopping.clone()) {
                receiving.run(wire);
            }
        })
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), ReplicaError> {
        let spawned = Builder::new().name(name.into()).spawn(work);
        let no_thread = |source| crate::error::NodeError::System { doing: "start a thread", source };
        self.threads.push(spawned.map_err(no_thread)?);
        Ok(())
    }

    fn join_ended(&mut self) {
        for thread in self.threads.extract_if(.., |thread| thread.is_finished()) {
            if thread.thread().name() == Some("lapwing-receive") {
                self.receivers -= 1;
            }
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        }
    }

    /// Ends all of it: nothing is written in the folder any more.
    pub(super) fn stop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.arrived.clear();
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        }
        // What had come and was not looked at.
        while self.heard.try_recv().is_ok() {}
        *slot::lock(&self.receiving.slot) = Slot::Free;
    }
}
