//! What is appended and not committed is taken back by a crash: nothing that has gone by then may have rested on it.

use super::by_hand::Log;
use super::sim::SimDisk;

const FRAME_BYTES: usize = 700;
/// Of several segments.
const MESSAGES: usize = 600;

/// A session that waits for messages in several segments, nearly all of them covered by a snapshot.
fn waiting(disk: &SimDisk) -> (Log, Vec<u64>) {
    let mut log = Log::new(disk, FRAME_BYTES);
    let mut queue = vec![];
    for _ in 0..MESSAGES {
        queue.push(log.publish());
        log.commit();
    }
    log.purge(queue[MESSAGES * 3 / 4]);
    assert!(log.kept.reader.info().segments > 6, "{:?}", log.kept.reader.info());
    (log, queue)
}

/// After a power cut, and after a kill: does the session wait for these again, and is every one of them there?
fn assert_there_after(log: Log, disk: &SimDisk, waiting: &[u64]) -> Log {
    let on_disk = [disk.after_crash(), disk.after_kill()];
    let mut log = log;
    for disk in on_disk {
        disk.set_capacity(u64::MAX);
        log = log.again(&disk);
        assert_eq!(log.queue(), waiting);
        let gone: Vec<_> = waiting.iter().filter(|entry| !log.has(**entry)).collect();
        assert!(gone.is_empty(), "{} bodies are gone that are waited for: {gone:?}", gone.len());
    }
    log
}

/// Do acknowledgements that no commit has made durable give nothing back, and the committed ones everything?
#[test]
fn what_is_finished_and_not_committed_is_still_there_after_a_cut() {
    let disk = SimDisk::new(1);
    let (mut log, queue) = waiting(&disk);
    let before = log.deleted_segments();
    log.finish(&queue);
    (0..5).for_each(|_| log.tend());
    assert_eq!(log.deleted_segments(), before, "on nothing but what a crash takes back");

    let mut log = assert_there_after(log, &disk, &queue);
    log.finish(&queue);
    log.commit();
    (0..5).for_each(|_| log.tend());
    assert!(log.deleted_segments() > 4, "{} segments are gone", log.deleted_segments());
}

/// On a disk where no commit finds space any more: is what was committed given back all the same, and nothing else?
#[test]
fn a_full_disk_gives_back_what_is_committed_and_nothing_else() {
    let disk = SimDisk::new(2);
    let (mut log, mut queue) = waiting(&disk);
    let finished: Vec<u64> = queue.drain(..MESSAGES / 3).collect();
    log.finish(&finished);
    log.commit();
    // Somebody else takes what is free, and what is given back.
    disk.set_capacity(0);
    loop {
        let entry = log.publish();
        if !log.try_commit() {
            break;
        }
        queue.push(entry);
    }
    log.finish(&queue);
    let before = log.deleted_segments();
    for _ in 0..5 {
        log.tend();
        assert!(!log.try_commit(), "the disk is full");
    }
    let gone = log.deleted_segments() - before;
    assert!((1..=3).contains(&gone), "{gone} segments are gone");
    drop(assert_there_after(log, &disk, &queue));
}
