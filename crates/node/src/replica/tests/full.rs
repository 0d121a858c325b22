//! A disk without space: what was handed over goes on later, in order, with nothing left out.

use lapwing_raft::Vote;
use lapwing_replica::{Body, GroupWrite, Write};

use super::{batch, entry, group, open};
use crate::log::crash::sim::SimDisk;
use crate::replica::{WriteQueue, start};

const GROUP: u8 = 5;

/// A batch of three, all before it committed.
fn write(number: u64) -> Write {
    let entries = match number {
        1 => vec![entry(1, 1, Body::Blank)],
        _ => vec![entry(number, 1, batch(group(GROUP), 3 * number - 5, 3 * number..3 * number + 3))],
    };
    let vote = Some(Vote { term: 1, voted_for: 1, commit: number - 1 });
    let group = GroupWrite { group: group(GROUP), install: None, truncate_from: None, entries, vote };
    Write { number, must_sync: true, groups: vec![group] }
}

#[test]
fn a_full_disk_is_waited_out() {
    let disk = SimDisk::new(1);
    let (mut journal, reader) = open(&disk).expect("open");
    let mut queue = WriteQueue::new(reader);
    // The first thing of a cluster begins a segment, and sets space aside for what follows.
    queue.push(write(1));
    queue.go_on(&mut journal).expect("there is space");
    disk.set_capacity(0);
    let mut number = 1;
    let persisted = loop {
        number += 1;
        queue.push(write(number));
        match queue.go_on(&mut journal) {
            Ok(persisted) => assert_eq!(persisted, number),
            Err(error) => {
                assert!(error.is_retryable(), "{error}");
                break number - 1;
            }
        }
    };
    assert!(persisted > 5, "what was set aside before holds some");
    for _ in 0..40 {
        number += 1;
        queue.push(write(number));
        assert!(queue.go_on(&mut journal).is_err_and(|error| error.is_retryable()) && !queue.is_idle());
    }
    // What comes up now has what was persisted.
    let again = disk.copy(7).after_crash();
    again.set_capacity(u64::MAX);
    let (mut journal_again, reader) = open(&again).expect("open");
    let started = start(&mut journal_again, &reader).expect("whole");
    let found = started.logs[usize::from(GROUP)].tail.last().index;
    assert!((persisted..=persisted + 1).contains(&found), "{found}, {persisted} was persisted");

    disk.set_capacity(u64::MAX);
    assert_eq!(queue.go_on(&mut journal).expect("there is space"), number);
    assert!(queue.is_idle());
    drop(journal);
    let (mut journal, reader) = open(&disk.after_crash()).expect("open");
    let started = start(&mut journal, &reader).expect("whole");
    let log = &started.logs[usize::from(GROUP)];
    assert_eq!((log.tail.last().index, log.tail.vote.commit, log.waiting.len()), (number, number - 1, 1));
    assert_eq!(started.data_groups.get(u16::from(GROUP)).applied(), 3 * (number - 2));
}

/// Is a write that nobody waits for written with the next one that somebody waits for, and said to be persisted then?
#[test]
fn what_nobody_waits_for_waits_for_company() {
    let disk = SimDisk::new(1);
    let (mut journal, reader) = open(&disk).expect("open");
    let mut queue = WriteQueue::new(reader);
    let go_on = |queue: &mut WriteQueue, journal: &mut _| queue.go_on(journal).expect("no fault");
    queue.push(write(1));
    assert_eq!(go_on(&mut queue, &mut journal), 1);
    let before = disk.steps();
    queue.push(Write { must_sync: false, ..write(2) });
    assert_eq!((go_on(&mut queue, &mut journal), disk.steps()), (1, before));
    queue.push(write(3));
    assert_eq!(go_on(&mut queue, &mut journal), 3);
    queue.push(Write { number: 4, must_sync: false, groups: vec![] });
    assert_eq!(go_on(&mut queue, &mut journal), 4, "nothing is to be written of it");
}
