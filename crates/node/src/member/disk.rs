//! The thread that writes a member's log: what the raft thread gives, in order, many writes with one sync; and what keeps the
//! log short.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use lapwing_ledger::{DataGroupState, FrozenState};
use lapwing_peer::GroupNumber;
use lapwing_replica::Write;
use lapwing_store::journal::{Covered, JournalReader, JournalWriter, Received, RoomThread};
use lapwing_store::{LogWriter, StoreError};

use super::error::MemberError;
use crate::data_groups::DataGroups;
use crate::mailbox::Bell;
use crate::niceness::come_soon;
use crate::replica::{Preface, ReplicaError, WriteQueue, journal_group, write_cluster, write_data_group};

/// How often the length of the log is looked after, and how often a full disk is tried again.
const TEND_EVERY: Duration = Duration::from_millis(100);
/// How often it is asked how much is free.
const FREE_EVERY: Duration = Duration::from_secs(1);
/// What compaction reads and writes in one go.
const COMPACT_BYTES: u64 = 2 << 20;

/// What the raft thread wants of the disk.
pub(super) enum Order {
    Write(Write),
    /// A state is to be written down.
    Snapshot(SnapshotOrder),
    /// A snapshot covers so much of a group, and nobody needs the log before it.
    Purge(GroupNumber, Covered),
    /// A snapshot from a leader: the group begins anew behind it with a write that follows.
    Install(Box<InstallOrder>),
    /// Everything was given: close the log, and end.
    Close,
}

/// A snapshot from a leader, and the state in it.
pub(super) struct InstallOrder {
    pub(super) group: GroupNumber,
    pub(super) received: Received,
    /// Of a data group.
    pub(super) state: Option<DataGroupState>,
}

/// A state as it was at the preface's place.
pub(super) struct SnapshotOrder {
    pub(super) group: GroupNumber,
    pub(super) preface: Preface,
    pub(super) state: SnapshotState,
}

/// Of a data group, or of the metadata group.
pub(super) enum SnapshotState {
    Data(FrozenState),
    Cluster(Box<lapwing_cluster::ClusterState>),
}

/// What the disk has to say.
pub(super) enum Word {
    /// This write, and every one before it, is on disk.
    Persisted(u64),
    /// How much room there is.
    Room { is_full: bool, is_low: bool, scale_bytes: u64 },
    /// Bytes that are free where the data folder lies; `None`: nobody can tell.
    Free(Option<u64>),
    /// A snapshot is durable, or could not be written.
    Snapshot(GroupNumber, Result<(Covered, u64), StoreError>),
    /// The snapshot from a leader counts, and a data group's state is the one in it.
    Installed(GroupNumber),
    /// It goes on no more.
    Failed(MemberError),
}

/// The raft thread's end.
pub(super) struct Disk {
    orders: Sender<Order>,
    words: Receiver<Word>,
    /// Writes that nobody waits for, with a commit index in each: they go with what comes next.
    held: Vec<Write>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread writes with.
pub(super) struct DiskParts {
    pub(super) dir: PathBuf,
    pub(super) log: LogWriter,
    pub(super) journal: JournalWriter,
    pub(super) reader: JournalReader,
    pub(super) data_groups: DataGroups,
}

/// What came of a snapshot: what it covers, and the bytes of its file.
type Written = (GroupNumber, Result<(Covered, u64), StoreError>);

struct DiskThread {
    dir: PathBuf,
    log: LogWriter,
    journal: JournalWriter,
    reader: JournalReader,
    data_groups: DataGroups,
    queue: WriteQueue,
    room: RoomThread,
    /// Of data groups that are to begin anew.
    states: BTreeMap<GroupNumber, DataGroupState>,
    persisted: u64,
    told_room: Option<(bool, bool, u64)>,
    asked_free: Option<Instant>,
    words: Sender<Word>,
    bell: Bell,
    last_tend: Instant,
    /// The one snapshot that is being written.
    snapshot: Option<JoinHandle<Written>>,
}

impl Disk {
    /// Starts the thread; it rings `bell` when it has said something.
    ///
    /// # Errors
    /// No thread can be had.
    pub(super) fn start(parts: DiskParts, bell: Bell) -> Result<Disk, MemberError> {
        let system = |source| MemberError::System { doing: "start a thread", source };
        let DiskParts { dir, log, journal, reader, data_groups } = parts;
        let (orders, waiting) = channel();
        let (words, heard) = channel();
        let thread = DiskThread {
            dir,
            log,
            journal,
            queue: WriteQueue::new(reader.clone()),
            reader,
            data_groups,
            room: RoomThread::start().map_err(system)?,
            states: BTreeMap::new(),
            persisted: 0,
            told_room: None,
            asked_free: None,
            words,
            bell,
            last_tend: Instant::now(),
            snapshot: None,
        };
        let thread = Builder::new().name("lapwing-log".into()).spawn(move || thread.run(&waiting)).map_err(system)?;
        Ok(Disk { orders, words: heard, held: Vec::new(), thread: Some(thread) })
    }

    /// Gives it something to do. A thread that has failed has said so.
    pub(super) fn order(&mut self, order: Order) {
        match order {
            Order::Write(write) if !write.must_sync => self.held.push(write),
            order => {
                self.give_held();
                let _ = self.orders.send(order);
            }
        }
    }

    /// Gives the thread what nobody waits for. It is of use to it at some time: a node that starts anew knows the more.
    pub(super) fn give_held(&mut self) {
        for write in self.held.drain(..) {
            let _ = self.orders.send(Order::Write(write));
        }
    }

    /// The next word, if there is one.
    ///
    /// # Errors
    /// `Ended`: it has ended.
    pub(super) fn word(&self) -> Result<Option<Word>, MemberError> {
        use std::sync::mpsc::TryRecvError;
        match self.words.try_recv() {
            Ok(word) => Ok(Some(word)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(MemberError::Ended),
        }
    }

    /// Has everything written and the log closed.
    pub(super) fn close(mut self) {
        self.order(Order::Close);
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            resume_unwind(panic);
        }
    }
}

impl DiskThread {
    fn run(mut self, orders: &Receiver<Order>) {
        come_soon();
        match self.work(orders) {
            Ok(()) => {
                let closed = self.journal.close().and_then(|()| self.log.close());
                let _ = closed.map_err(|error| self.words.send(Word::Failed(ReplicaError::from(error).into())));
            }
            Err(error) => drop(self.words.send(Word::Failed(error.into()))),
        }
        self.bell.ring();
    }

    fn work(&mut self, orders: &Receiver<Order>) -> Result<(), ReplicaError> {
        loop {
            let pause = TEND_EVERY.saturating_sub(self.last_tend.elapsed());
            let mut next = match orders.recv_timeout(pause) {
                Ok(order) => Some(order),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return self.last(),
            };
            // Whatever gathered during the last sync goes into the next one.
            while let Some(order) = next {
                match order {
                    Order::Write(write) => self.queue.push(write),
                    Order::Snapshot(order) => self.begin_snapshot(order)?,
                    Order::Purge(group, covered) => self.purge(group, covered)?,
                    Order::Install(order) => {
                        let InstallOrder { group, received, state } = *order;
                        self.queue.receive(group, received);
                        self.states.extend(state.map(|state| (group, state)));
                    }
                    Order::Close => return self.last(),
                }
                next = orders.try_recv().ok();
            }
            self.write()?;
            self.tend()?;
        }
    }

    /// Brings to the disk what waits; a full one is tried again.
    fn write(&mut self) -> Result<(), ReplicaError> {
        let gone_on = self.queue.go_on(&mut self.journal);
        for group in self.queue.take_installed() {
            if let Some(state) = self.states.remove(&group) {
                *self.data_groups.get(u16::from(group.value())) = state;
            }
            self.say(Word::Installed(group));
        }
        match gone_on {
            Ok(persisted) => {
                if persisted > self.persisted {
                    self.persisted = persisted;
                    self.say(Word::Persisted(persisted));
                }
                self.tell_room(false);
                Ok(())
            }
            Err(error) if error.is_retryable() => {
                self.tell_room(true);
                std::thread::sleep(TEND_EVERY);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn last(&mut self) -> Result<(), ReplicaError> {
        if let Some(snapshot) = self.snapshot.take() {
            // Nothing may write in the folder when the log is closed.
            drop(snapshot.join());
        }
        let written = self.write();
        self.queue.forget_received();
        written
    }

    /// Looks after the length of the log, now and then.
    fn tend(&mut self) -> Result<(), ReplicaError> {
        if self.last_tend.elapsed() < TEND_EVERY {
            return Ok(());
        }
        self.last_tend = Instant::now();
        self.tell_free();
        if let Some(snapshot) = self.snapshot.take_if(|snapshot| snapshot.is_finished()) {
            match snapshot.join() {
                Ok((group, result)) => self.say(Word::Snapshot(group, result)),
                Err(panic) => resume_unwind(panic),
            }
        }
        let data_groups = &self.data_groups;
        let is_live = &mut |group: lapwing_store::journal::DataGroupId, index| {
            // The metadata's state refers to no entry.
            group.0 < crate::slot::DATA_GROUPS && data_groups.get(group.0).is_live(index)
        };
        let tended = self.room.tend(&mut self.journal).and_then(|()| self.journal.compact(is_live, COMPACT_BYTES));
        match tended {
            Ok(_) => Ok(()),
            // The next write meets the same full disk and says so.
            Err(error) if error.is_retryable() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn begin_snapshot(&mut self, order: SnapshotOrder) -> Result<(), ReplicaError> {
        debug_assert!(self.snapshot.is_none(), "one at a time");
        let reader = self.reader.clone();
        let SnapshotOrder { group, preface, state } = order;
        let write = move || match state {
            SnapshotState::Data(state) => (group, write_data_group(&reader, group, &preface, state)),
            SnapshotState::Cluster(state) => (group, write_cluster(&reader, &preface, &state)),
        };
        let spawned = Builder::new().name("lapwing-snapshot".into()).spawn(write);
        let no_thread = |source| crate::error::NodeError::System { doing: "start a thread", source };
        self.snapshot = Some(spawned.map_err(no_thread)?);
        Ok(())
    }

    /// What it covers may go. Too much may wait for a commit: that comes first then.
    fn purge(&mut self, group: GroupNumber, covered: Covered) -> Result<(), ReplicaError> {
        let purged = match self.journal.purge_raft(journal_group(group), covered) {
            Err(StoreError::Pending { .. }) => {
                self.journal.commit()?;
                self.journal.purge_raft(journal_group(group), covered)
            }
            purged => purged,
        };
        match purged {
            Ok(()) if group != GroupNumber::METADATA => {
                self.data_groups.get(u16::from(group.value())).covered(covered.index);
                Ok(())
            }
            Ok(()) => Ok(()),
            // The next snapshot brings it.
            Err(error) if error.is_retryable() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn tell_room(&mut self, is_full: bool) {
        let room = (is_full, self.journal.is_low_on_space(), self.journal.scale_bytes());
        if self.told_room.replace(room) != Some(room) {
            let (is_full, is_low, scale_bytes) = room;
            self.say(Word::Room { is_full, is_low, scale_bytes });
        }
    }

    /// It waits for the disk as what is written does.
    fn tell_free(&mut self) {
        if self.asked_free.is_none_or(|asked| asked.elapsed() >= FREE_EVERY) {
            self.asked_free = Some(Instant::now());
            self.say(Word::Free(lapwing_files::free_bytes(&self.dir).ok()));
        }
    }

    fn say(&self, word: Word) {
        // The raft thread has ended only where it has closed this one.
        let _ = self.words.send(word);
        self.bell.ring();
    }
}
