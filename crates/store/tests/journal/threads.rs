//! One writer, many readers, on a real file system: readers see every entry once, in order.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::*;
use lapwing_store::ReadLimits;
use lapwing_store::journal::{DataGroupId, JournalReader};

const ENTRIES: u64 = 8_000;

/// Follows a group until it has seen the last entry.
fn follow(reader: &JournalReader, group: DataGroupId, done: &AtomicBool) -> u64 {
    let limits = ReadLimits { messages_max: 100, bytes_max: 10_000 };
    let mut next = 1;
    loop {
        // Asked before reading: what is committed when the writer is done is seen by the read that follows.
        let is_last = done.load(Ordering::Acquire);
        let mut expected = next;
        let to = reader.group(group).expect("a group").last_index;
        let read = reader.read(group, next, to, limits, &mut |entry| {
            assert_eq!((entry.index, entry.body), (expected, &body(group, expected)[..]));
            expected += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(read.expect("a read").next_index, expected);
        next = expected;
        if is_last && next > to {
            return to;
        }
    }
}

#[test]
fn followers_see_every_entry_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (reader, done) = (&reader, &done);
        let followers: Vec<_> =
            [A, B, A, B].into_iter().map(|group| scope.spawn(move || follow(reader, group, done))).collect();
        fill(&mut writer, ENTRIES);
        done.store(true, Ordering::Release);
        for follower in followers {
            assert_eq!(follower.join().expect("a follower"), ENTRIES);
        }
    });
}

#[test]
fn readers_find_live_entries_while_compaction_moves_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    let is_live = |index: u64| index.is_multiple_of(11);
    fill(&mut writer, 100);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (reader, done) = (&reader, &done);
        let followers: Vec<_> = [A, B]
            .into_iter()
            .map(|group| {
                scope.spawn(move || {
                    let mut turns = 0;
                    while !done.load(Ordering::Acquire) || turns < 3 {
                        let last = reader.group(group).expect("a group").last_index;
                        let live: Vec<u64> = (1..=last).filter(|index| is_live(*index)).collect();
                        let mut found = vec![];
                        let each = &mut |entry: lapwing_store::journal::EntryView<'_>| {
                            assert_eq!(entry.body, body(group, entry.index));
                            found.push(entry.index);
                            ControlFlow::Continue(())
                        };
                        reader.get_many(group, &live, each).expect("look-ups");
                        assert_eq!(found, live);
                        turns += 1;
                    }
                })
            })
            .collect();
        for round in 1..=20 {
            fill(&mut writer, 200);
            for group in [A, B] {
                writer.purge(group, round * 200, 0).expect("purge");
            }
            writer.commit().expect("commit");
            let mut over = false;
            while !over {
                over = writer.compact(&mut |_, index| is_live(index), 50_000).expect("compact").round_over;
            }
        }
        done.store(true, Ordering::Release);
        followers.into_iter().for_each(|follower| follower.join().expect("a reader"));
    });
    assert!(reader.info().kept_segments > 0);
}
