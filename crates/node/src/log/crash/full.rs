//! A disk that fills up while a session sleeps: what its client takes when it is back frees the disk, and that is noticed.

use std::time::{Duration, Instant};

use lapwing_ledger::{Entry, Fact, KeeperId, KeepersBuf, List, Opened, ProgressBuf, Published, SubscriptionIds, Terms};
use lapwing_store::StoreError;

use super::super::batch::{Destination, Record};
use super::sim::SimDisk;
use super::{Kept, NOW_US, open};
use crate::slot::Slot;

const GROUP: u16 = 3;
const SEGMENT: u64 = 64 << 10;
/// What may be under way when publishers are told to wait.
const UNDER_WAY: u64 = SEGMENT * 5 / 16;
const PATIENCE: Duration = Duration::from_secs(60);

/// The log thread's side, and the index of the next entry.
struct Log {
    kept: Kept,
    next: u64,
    frame: Vec<u8>,
}

impl Log {
    fn append(&mut self, entry: &Entry<'_>) -> u64 {
        let mut body = vec![];
        entry.encode(&mut body).expect("within the bounds");
        let index = self.next;
        let to = Destination::Group { group: GROUP, index };
        let record = Record { to, slot: Slot::first_of(GROUP), message_id: index, body_end: body.len() };
        self.kept.keeper.append((GROUP, index), &record, NOW_US, &body).expect("room in memory");
        self.next += 1;
        index
    }

    fn publish(&mut self, session: KeeperId) -> u64 {
        let (mut keepers, terms) = (KeepersBuf::new(), Terms { qos: 1, retain: false, ids: SubscriptionIds::EMPTY });
        keepers.push(session, terms).expect("one");
        let frame = std::mem::take(&mut self.frame);
        let index = self.append(&Entry::Published(Published {
            frame: &frame,
            published_at_ms: 1,
            expires_at_ms: 0,
            publisher: 7,
            origin: None,
            keepers: keepers.as_list(),
            groups: List::EMPTY,
            retained: None,
        }));
        self.frame = frame;
        index
    }

    fn finish(&mut self, session: KeeperId, entries: &[u64]) {
        let mut progress = ProgressBuf::new();
        entries.iter().for_each(|entry| progress.push(session, Fact::Finished { entry: *entry }));
        self.append(&Entry::Progress(progress.as_progress()));
    }

    /// As the log thread does it: what finds no space is tried again, and the log is looked after in between.
    fn commit(&mut self) {
        let begun = Instant::now();
        while let Err(error) = self.kept.keeper.commit() {
            assert!(error.is_retryable() && begun.elapsed() < PATIENCE, "{error}: {:?}", self.kept.reader.info());
            self.tend();
        }
    }

    fn tend(&mut self) {
        match self.kept.keeper.tend() {
            Ok(_) => {}
            Err(error @ StoreError::Full { .. }) => drop(error),
            Err(error) => panic!("{error}"),
        }
        std::thread::yield_now();
    }

    /// Publishes until the disk is full, and what is under way then.
    fn fill(&mut self, session: KeeperId) -> Vec<u64> {
        let (mut queue, begun) = (vec![], Instant::now());
        while !self.kept.keeper.is_low_on_space() {
            if self.kept.keeper.waits_for_room() {
                // Publishers wait: whoever sets space aside is slower than they are.
                assert!(begun.elapsed() < PATIENCE, "no room, and no word of it: {:?}", self.kept.reader.info());
                self.tend();
                continue;
            }
            queue.push(self.publish(session));
            self.commit();
            if queue.len().is_multiple_of(20) {
                self.tend();
            }
        }
        for _ in 0..UNDER_WAY / (self.frame.len() as u64 + 128) {
            queue.push(self.publish(session));
        }
        self.commit();
        queue
    }
}

#[test]
fn a_disk_that_is_full_has_room_again_when_what_waited_is_delivered() {
    for frame_bytes in [20, 700, 9_000] {
        let disk = SimDisk::new(frame_bytes as u64);
        disk.set_capacity(SEGMENT * 10);
        let kept = open(&disk).expect("open");
        let mut log = Log { kept, next: 1, frame: vec![7; frame_bytes] };
        let opened = Opened { client_id: "sleeper", identity: b"", expiry_s: 60, opened_at_ms: 1, will: None };
        let session = KeeperId(log.append(&Entry::Opened(opened)));
        for round in 0..3 {
            let queue = log.fill(session);
            assert!(queue.len() as u64 * frame_bytes as u64 > SEGMENT / 2, "{} messages", queue.len());
            for some in queue.chunks(10) {
                let live = log.kept.reader.get(lapwing_store::journal::GroupId(GROUP), some[0]).expect("a read");
                assert!(live.is_some(), "what waits can be read while the disk is full");
                log.finish(session, some);
                log.commit();
                log.tend();
            }
            let begun = Instant::now();
            while log.kept.keeper.is_low_on_space() || log.kept.keeper.waits_for_room() {
                let info = log.kept.reader.info();
                assert!(begun.elapsed() < PATIENCE, "{frame_bytes} bytes, round {round}: it stands still: {info:?}");
                log.tend();
                log.commit();
            }
        }
    }
}
