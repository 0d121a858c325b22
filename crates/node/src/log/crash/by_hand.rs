//! The log thread's side, driven by a test call by call: one session in one data group, and messages of one size.

use std::time::{Duration, Instant};

use lapwing_ledger::{
    DeliveryOptions, Entry, Fact, KeeperId, KeepersBuf, List, Opened, ProgressBuf, Published, SubscriptionIds,
};
use lapwing_store::StoreError;
use lapwing_store::journal::DataGroupId;

use super::sim::SimDisk;
use super::{Kept, open};

pub(super) const GROUP: u16 = 3;
/// How long what other threads do may take: no more than a failure waits for it.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// What the log thread has, the session, and the index of the next entry.
pub(super) struct Log {
    pub(super) kept: Kept,
    session: KeeperId,
    next: u64,
    frame: Vec<u8>,
}

impl Log {
    /// Opens the session in a folder without entries.
    pub(super) fn new(disk: &SimDisk, frame_bytes: usize) -> Self {
        let kept = open(disk).expect("open");
        let mut log = Log { kept, session: KeeperId(1), next: 1, frame: vec![7; frame_bytes] };
        let opened = Opened { client_id: "sleeper", identity: b"", expiry_s: 60, opened_at_ms: 1, will: None };
        log.append(&Entry::Opened(opened));
        log
    }

    /// The same, on what a crash has left.
    pub(super) fn again(self, disk: &SimDisk) -> Self {
        let Log { kept, session, frame, .. } = self;
        // Its threads end here: nothing of the life before writes in the next one.
        drop(kept);
        let kept = open(disk).expect("open again");
        let next = kept.data_groups.get(GROUP).applied() + 1;
        Log { kept, session, next, frame }
    }

    fn append(&mut self, entry: &Entry<'_>) -> u64 {
        let mut body = vec![];
        entry.encode(&mut body).expect("within the bounds");
        let index = self.next;
        self.kept.append((GROUP, index), &body).expect("room in memory");
        self.next += 1;
        index
    }

    /// A message for the session; its entry.
    pub(super) fn publish(&mut self) -> u64 {
        let (mut keepers, options) =
            (KeepersBuf::new(), DeliveryOptions { qos: 1, retain: false, ids: SubscriptionIds::EMPTY });
        keepers.push(self.session, options).expect("one");
        let frame = std::mem::take(&mut self.frame);
        let index = self.append(&Entry::Published(Published {
            frame: &frame,
            published_at_ms: 1,
            expires_at_ms: 0,
            publisher: 7,
            holder: None,
            origin: None,
            keepers: keepers.as_list(),
            groups: List::EMPTY,
            retained: None,
        }));
        self.frame = frame;
        index
    }

    /// The session's client has these.
    pub(super) fn finish(&mut self, entries: &[u64]) {
        let mut progress = ProgressBuf::new();
        entries.iter().for_each(|entry| progress.push(self.session, Fact::Finished { entry: *entry }));
        self.append(&Entry::Progress(progress.as_progress()));
    }

    /// One try; false: the disk is full.
    pub(super) fn try_commit(&mut self) -> bool {
        match self.kept.keeper.commit() {
            Ok(()) => true,
            Err(StoreError::Full { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// As the log thread does it: what finds no space is tried again, and the log is looked after in between.
    pub(super) fn commit(&mut self) {
        let begun = Instant::now();
        while !self.try_commit() {
            assert!(begun.elapsed() < PATIENCE, "no space: {:?}", self.kept.reader.info());
            self.tend();
        }
    }

    /// Looks after the log once.
    pub(super) fn tend(&mut self) {
        match self.kept.keeper.tend() {
            Ok(_) => {}
            Err(error @ StoreError::Full { .. }) => drop(error),
            Err(error) => panic!("{error}"),
        }
        std::thread::yield_now();
    }

    /// Looks after the log until snapshots have everything up to `entry`.
    pub(super) fn purge(&mut self, entry: u64) {
        let begun = Instant::now();
        while self.kept.reader.group(DataGroupId(GROUP)).expect("a group").purged_index < entry {
            assert!(begun.elapsed() < PATIENCE, "no snapshot: {:?}", self.kept.reader.info());
            self.tend();
            self.commit();
        }
    }

    /// The last entry that the newest snapshot has; 0: there is none.
    pub(super) fn snapshot_index(&self) -> u64 {
        let newest = || self.kept.reader.snapshot(DataGroupId(GROUP));
        // One that gives way to the next just now is looked for in vain, and no third one is begun meanwhile.
        newest().or_else(|_| newest()).expect("it can be read").map_or(0, |snapshot| snapshot.index())
    }

    /// What the session waits for, in order.
    pub(super) fn queue(&self) -> Vec<u64> {
        let state = self.kept.data_groups.get(GROUP);
        state.session_of(self.session).expect("it is there").queue().map(|(entry, _)| entry).collect()
    }

    /// Whether the message of this entry can be read.
    pub(super) fn has(&self, entry: u64) -> bool {
        self.kept.reader.get(DataGroupId(GROUP), entry).expect("a read").is_some()
    }

    pub(super) fn deleted_segments(&self) -> u64 {
        let counters = self.kept.reader.counters().list();
        counters.iter().find(|counter| counter.0 == "deleted_segments").expect("it is counted").2
    }
}
