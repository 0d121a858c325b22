//! Losses that somebody accepts: what cannot be read is gone and told, everything else is there, in its place.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::*;
use lapwing_store::disk::Overlay;
use lapwing_store::inspect::{DataFolder, Loss, Severity};
use lapwing_store::journal::DataGroupId;
use lapwing_store::{Notice, RecordView, StoreError, StreamIndex};

fn filler(bytes: usize) -> Vec<u8> {
    vec![0xEE; bytes]
}

fn accept(dir: &Path, path: &Path) -> Result<Option<Loss>, StoreError> {
    let folder = DataFolder::open(os(), dir)?;
    folder.accept_loss(&*os(), &known(&folder, path), &filler)
}

fn lost(loss: &Loss, partition: u32) -> BTreeSet<u64> {
    let ranges = loss.ranges.iter().filter(|range| range.partition == partition);
    ranges.flat_map(|range| range.first..=range.last).collect()
}

/// Every entry is there as it was, or is one of `loss`, with the filler in its place.
fn assert_entries(opened: &Opened, loss: &Loss, last: u64) {
    for group in GROUPS {
        let lost = lost(loss, u32::from(group.0));
        let found = opened.entries_of(group);
        assert!(found.keys().copied().eq(1..=last), "no index is missing");
        for (index, body_found) in found {
            match lost.contains(&index) {
                true => assert!(body_found.iter().all(|byte| *byte == 0xEE) && !body_found.is_empty()),
                false => assert_eq!(body_found, body(u64::from(group.0), index), "entry {index}"),
            }
        }
    }
}

/// Every message is there as it was, or is one of `loss` and passed over.
fn assert_messages(opened: &Opened, loss: &Loss, next: u64) {
    for partition in 0..2 {
        let lost = lost(loss, partition);
        let found = opened.messages_of(partition);
        assert!(found.keys().copied().eq((0..next).filter(|offset| !lost.contains(offset))));
        assert!(found.iter().all(|(offset, found)| *found == body(u64::from(partition), *offset)));
    }
}

/// Damages a copy of `file` in one place after the other; each time all but the loss is there.
fn everywhere(path: &Path, step: usize, check: impl Fn(&Path, &Loss)) {
    let dir = folder();
    let file = dir.path().join(path);
    let whole = fs::read(&file).expect("read");
    let index = file.with_extension("idx");
    let beside = fs::read(&index).ok();
    let (mut refused, mut given_up) = (vec![], 0);
    let end = whole.iter().rposition(|byte| *byte != 0).expect("records") - 80;
    for at in (0..end).step_by(step) {
        flip(&file, at as u64);
        match accept(dir.path(), path) {
            Ok(Some(loss)) => {
                let all: u64 = loss.ranges.iter().map(|range| range.last - range.first + 1).sum();
                assert!(all <= 1 && loss.bytes > 0 && loss.bytes < 600, "byte {at}: {loss:?}");
                assert!(!loss.is_open_ended, "byte {at}: {loss:?}");
                given_up += all;
                assert_eq!(fs::metadata(&file).expect("a file").len(), whole.len() as u64, "as long as before");
                assert_eq!(accept(dir.path(), path).expect("whole now"), None, "byte {at}");
                check(dir.path(), &loss);
            }
            Err(StoreError::NotMendable { .. }) => refused.push(at),
            other => panic!("byte {at}: {other:?}"),
        }
        fs::write(&file, &whole).expect("write");
        if let Some(beside) = &beside {
            fs::write(&index, beside).expect("write");
        }
    }
    assert!(refused.iter().all(|at| *at < 2_000), "only the opening cannot be given up: {refused:?}");
    assert!(given_up > 3, "{given_up}");
}

#[test]
fn one_damaged_record_of_a_sealed_segment_of_the_journal_is_one_lost_entry() {
    everywhere(&numbered("log", 2, "log"), 1_499, |dir, loss| {
        let opened = open(dir).expect("it starts");
        assert_entries(&opened, loss, 600);
        assert_messages(&opened, &Loss::default(), 600);
    });
}

#[test]
fn one_damaged_record_of_a_sealed_segment_of_a_stream_is_one_lost_message() {
    everywhere(&numbered("streams/s", 2, "log"), 1_499, |dir, loss| {
        let opened = open(dir).expect("it starts");
        drop(opened.messages.take_notices());
        assert_messages(&opened, loss, 600);
        assert_messages(&opened, loss, 600);
        let told = opened.messages.take_notices();
        let told = told.iter().filter_map(|notice| match notice {
            Notice::GivenUp { partition, offset, messages, .. } => Some((*partition, *offset, *messages)),
            _ => None,
        });
        let lost = loss.ranges.iter().map(|range| (range.partition, range.first, range.last - range.first + 1));
        assert!(told.eq(lost), "a reader that passes it over tells, the first time");
    });
}

/// Does whoever meets damage in a stream say where, the first time only?
#[test]
fn damage_that_a_reader_meets_is_told_once() {
    let dir = folder();
    let opened = open(dir.path()).expect("it starts");
    let file = dir.path().join(numbered("streams/s", 2, "log"));
    let bytes = fs::read(&file).expect("a file");
    let place = |offset: u64| {
        let body = body(0, offset);
        bytes.windows(body.len()).position(|window| *window == body[..])
    };
    let (met, at) = (100..600).step_by(50).find_map(|offset| Some((offset, place(offset)?))).expect("a message");
    flip(&file, at as u64 + 3);
    for _ in 0..2 {
        let mut none = |_: RecordView<'_>| ControlFlow::Continue(());
        let read = opened.messages.read(StreamIndex(0), 0, met, EVERYTHING, None, &mut none);
        assert!(matches!(read, Err(StoreError::Corrupt { .. })), "{read:?}");
    }
    let told = opened.messages.take_notices();
    let damaged =
        told.iter().filter(|notice| matches!(notice, Notice::Damaged { partition: 0, offset, .. } if *offset == met));
    assert_eq!(damaged.count(), 1, "{told:?}");
}

#[test]
fn the_segment_being_written_goes_on_behind_its_loss() {
    for home in ["log", "streams/s"] {
        let probe = folder();
        let path = numbered(home, newest(probe.path(), home), "log");
        everywhere(&path, 799, |dir, loss| {
            let copy = tempfile::tempdir().expect("a folder");
            copy_all(dir, copy.path());
            let mut opened = open(copy.path()).expect("it starts");
            opened.fill(20);
            let of_journal = if home == "log" { loss.clone() } else { Loss::default() };
            let of_stream = if home == "log" { Loss::default() } else { loss.clone() };
            assert_entries(&opened, &of_journal, 620);
            assert_messages(&opened, &of_stream, 620);
        });
    }
}

/// The segment that holds these bytes, and where.
fn find(dir: &Path, home: &str, wanted: &[u8]) -> (PathBuf, usize) {
    let mut paths = (1..=newest(dir, home)).map(|sequence| numbered(home, sequence, "log"));
    let found = paths.find_map(|path| {
        let bytes = fs::read(dir.join(&path)).expect("read");
        Some((path, bytes.windows(wanted.len()).position(|window| window == wanted)?))
    });
    found.expect("a segment has it")
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy_all(&path, &target),
            false => drop(fs::copy(&path, &target).expect("copied")),
        }
    }
}

#[test]
fn a_whole_page_of_zeros_costs_the_records_that_lay_there() {
    for (home, without_index) in [("log", false), ("log", true), ("streams/s", false)] {
        let dir = folder();
        let path = numbered(home, 2, "log");
        let mut bytes = fs::read(dir.path().join(&path)).expect("read");
        bytes[20_480..24_576].fill(0);
        bytes[40_960..45_056].fill(0);
        fs::write(dir.path().join(&path), &bytes).expect("write");
        if without_index {
            fs::remove_file(dir.path().join(numbered(home, 2, "idx"))).expect("remove");
        }
        let loss = accept(dir.path(), &path).expect("it can be done").expect("a loss");
        assert!(loss.bytes >= 8_192 && loss.bytes < 10_000, "{loss:?}");
        let opened = open(dir.path()).expect("it starts");
        let nothing = Loss::default();
        let (of_journal, of_stream) = if home == "log" { (&loss, &nothing) } else { (&nothing, &loss) };
        assert_entries(&opened, of_journal, 600);
        assert_messages(&opened, of_stream, 600);
        drop(opened);
        assert_eq!(troubles(dir.path()).into_iter().filter(|trouble| trouble.1 == Severity::Damage).count(), 0);
    }
}

#[test]
fn kept_entries_are_given_up_one_by_one() {
    let dir = folder();
    let mut opened = open(dir.path()).expect("open");
    for group in GROUPS {
        opened.journal.purge(group, 500, 0).expect("purge");
    }
    opened.commit();
    let mut over = false;
    while !over {
        over = opened.journal.compact(&mut |_, index| index % 3 == 0, 1 << 20).expect("compact").round_over;
    }
    opened.close();
    let names = fs::read_dir(dir.path().join("log")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let kept: PathBuf =
        names.filter(|path| path.extension().is_some_and(|end| end == "kept")).min().expect("kept entries");
    let path = Path::new("log").join(kept.file_name().expect("a name"));
    let before = open(dir.path()).expect("open");
    let all: Vec<_> = GROUPS.iter().map(|group| before.entries_of(*group)).collect();
    drop(before);
    let bytes = fs::metadata(&kept).expect("a file").len();
    for at in [bytes / 4, bytes / 2, bytes / 2 + 900, bytes - 50] {
        flip(&kept, at);
        let loss = accept(dir.path(), &path).expect("it can be done").expect("a loss");
        let opened = open(dir.path()).expect("it starts");
        for (group, all) in GROUPS.iter().zip(&all) {
            let found = opened.entries_of(*group);
            let missing: BTreeSet<u64> = all.keys().filter(|index| !found.contains_key(index)).copied().collect();
            assert!(lost(&loss, u32::from(group.0)).is_subset(&missing), "{loss:?} {missing:?}");
            assert!(found.iter().all(|(index, body)| all[index] == *body));
        }
        assert!(loss.ranges.len() <= 1, "{loss:?}");
    }
    let opened = open(dir.path()).expect("it starts");
    let found: usize = GROUPS.iter().map(|group| opened.entries_of(*group).len()).sum();
    let there: usize = all.iter().map(|entries| entries.len()).sum();
    assert!(found < there && found >= there - 4, "{found} of {there}");
}

#[test]
fn a_trial_tells_the_same_and_changes_nothing() {
    let dir = folder();
    let path = numbered("log", 3, "log");
    flip(&dir.path().join(&path), 30_000);
    let damaged = fs::read(dir.path().join(&path)).expect("read");
    let trial: Arc<dyn lapwing_store::disk::Disk> = Arc::new(Overlay::new(os()));
    let folder = DataFolder::open(trial.clone(), dir.path()).expect("a data folder");
    let told = folder.accept_loss(&*trial, &known(&folder, &path), &filler).expect("it can be done");
    let started = folder.start(trial).expect("it would start");
    let (_, entries) = started.journal.expect("a journal");
    assert_eq!(entries.group(DataGroupId(0)).expect("a group").last_index, 600);
    drop((started.writer, entries));
    assert_eq!(fs::read(dir.path().join(&path)).expect("read"), damaged);
    assert_eq!(accept(dir.path(), &path).expect("it can be done"), told);
}

#[test]
fn what_is_lost_may_still_say_whose_it_was() {
    let dir = folder();
    let wanted = body(15, 180);
    let (path, at) = find(dir.path(), "log", &wanted);
    // The last byte of a body: its header and the rest of it are as they were.
    flip(&dir.path().join(&path), (at + wanted.len() - 1) as u64);
    let loss = accept(dir.path(), &path).expect("it can be done").expect("a loss");
    assert_eq!(loss.ranges.len(), 1);
    assert_eq!((loss.ranges[0].partition, loss.ranges[0].first), (15, 180));
    assert!(loss.remains[0].body.starts_with(b"15/180:"), "{:?}", loss.remains);
}

#[test]
fn a_file_that_is_gone_and_an_index_cannot_be_given_up() {
    let dir = folder();
    let path = numbered("streams/s", 2, "log");
    for (path, gone) in [(numbered("streams/s", 2, "idx"), false), (path, true)] {
        if gone {
            fs::remove_file(dir.path().join(&path)).expect("remove");
        }
        let error = accept(dir.path(), &path).expect_err("no");
        assert!(matches!(&error, StoreError::NotMendable { file, .. } if *file == dir.path().join(&path)), "{error}");
    }
}

#[test]
fn lost_messages_leave_their_offsets_to_nobody() {
    let dir = folder();
    let (path, at) = find(dir.path(), "streams/s", &body(1, 599));
    assert_eq!(path, numbered("streams/s", newest(dir.path(), "streams/s"), "log"), "the last message");
    flip(&dir.path().join(&path), at as u64 + 3);
    let loss = accept(dir.path(), &path).expect("it can be done").expect("a loss");
    assert_eq!(lost(&loss, 1), [599].into());
    let mut opened = open(dir.path()).expect("it starts");
    assert_eq!(opened.messages.streams()[0].partitions[1].next_offset, 600);
    opened.fill(1);
    assert_eq!(opened.messages_of(1).keys().next_back(), Some(&600));
    let read =
        opened.messages.read(StreamIndex(0), 1, 599, EVERYTHING, None, &mut |_| std::ops::ControlFlow::Continue(()));
    assert_eq!(read.expect("read").messages, 1);
}
