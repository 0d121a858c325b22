//! A disk that fills up while a session sleeps: what its client takes when it is back frees the disk, and that is noticed.

use std::time::Instant;

use super::by_hand::{Log, PATIENCE};
use super::sim::SimDisk;

const SEGMENT: u64 = 64 << 10;
/// All that there is.
const CAPACITY: u64 = SEGMENT * 10;
/// What may be under way when publishers are told to wait.
const UNDER_WAY: u64 = SEGMENT * 5 / 16;

/// Publishes until the disk is full, and what is under way then.
fn fill(log: &mut Log, frame_bytes: u64) -> Vec<u64> {
    let (mut queue, begun) = (vec![], Instant::now());
    while !log.kept.keeper.is_low_on_space() {
        if log.kept.keeper.waits_for_room() {
            // Publishers wait: whoever sets space aside is slower than they are.
            assert!(begun.elapsed() < PATIENCE, "no room, and no word of it: {:?}", log.kept.reader.info());
            log.tend();
            continue;
        }
        queue.push(log.publish());
        log.commit();
        if queue.len().is_multiple_of(20) {
            log.tend();
        }
    }
    for _ in 0..UNDER_WAY / (frame_bytes + 128) {
        queue.push(log.publish());
    }
    log.commit();
    queue
}

#[test]
fn a_disk_that_is_full_has_room_again_when_what_waited_is_delivered() {
    for frame_bytes in [20, 700, 9_000] {
        let disk = SimDisk::new(frame_bytes);
        disk.set_capacity(CAPACITY);
        let mut log = Log::new(&disk, frame_bytes as usize);
        for round in 0..3 {
            let queue = fill(&mut log, frame_bytes);
            assert!(queue.len() as u64 * frame_bytes > SEGMENT / 2, "{} messages", queue.len());
            for some in queue.chunks(10) {
                assert!(log.has(some[0]), "what waits can be read while the disk is full");
                log.finish(some);
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

/// Where no commit finds space: does a state that is due find some (the reserve is for that), so that it is written and
/// durable before any commit is made again, and does it have what was committed and nothing else?
#[test]
fn a_state_is_written_anew_while_commits_fail() {
    const FRAME_BYTES: u64 = 700;
    let disk = SimDisk::new(3);
    disk.set_capacity(CAPACITY);
    let mut log = Log::new(&disk, FRAME_BYTES as usize);
    // The last of these came when nobody looked after the log: no snapshot that is under way has them.
    let queue = fill(&mut log, FRAME_BYTES);
    let committed = *queue.last().expect("it took some");
    assert!(log.snapshot_index() < committed);
    // More than the whole disk.
    let waiting: Vec<u64> = (0..CAPACITY / FRAME_BYTES + 1).map(|_| log.publish()).collect();
    let begun = Instant::now();
    while log.snapshot_index() < committed {
        assert!(!log.try_commit(), "the disk is full");
        assert!(begun.elapsed() < PATIENCE, "no snapshot: {:?}", log.kept.reader.info());
        log.tend();
    }
    assert!(!log.try_commit(), "the disk is full");
    assert_eq!(log.snapshot_index(), committed);

    log = log.again(&disk.after_crash());
    assert_eq!((log.snapshot_index(), log.queue()), (committed, queue));
    assert!(!waiting.iter().any(|entry| log.has(*entry)));
}
