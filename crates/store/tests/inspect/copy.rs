//! Copies, of a folder that rests and of one that is written and compacted meanwhile.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

use crate::common::*;
use lapwing_store::StoreError;
use lapwing_store::disk::OsDisk;
use lapwing_store::inspect::{Severity, copy_folder};
use lapwing_store::journal::{Covered, Entry};

fn copy(from: &Path, to: &Path) -> Result<bool, StoreError> {
    copy_folder(&OsDisk, from, to, &mut |_, _| ControlFlow::Continue(()))
}

#[test]
fn a_copy_of_a_closed_folder_is_the_same() {
    let (dir, target) = (folder(), tempfile::tempdir().expect("a folder"));
    assert!(copy(dir.path(), target.path()).expect("copied"));
    assert_whole(target.path());
    for home in ["log", "streams/s"] {
        for sequence in 1..=newest(dir.path(), home) {
            let path = numbered(home, sequence, "log");
            let (old, new) = (fs::read(dir.path().join(&path)), fs::read(target.path().join(&path)));
            assert_eq!(old.expect("read"), new.expect("copied"), "{path:?}");
        }
    }
    let opened = open(target.path()).expect("it starts");
    for group in GROUPS {
        assert_eq!(opened.entries_of(group).len(), 600);
    }
}

#[test]
fn a_copy_leaves_out_what_a_crash_has_left_and_cuts_a_torn_tail() {
    let (dir, target) = (folder(), tempfile::tempdir().expect("a folder"));
    fs::write(dir.path().join("log/00000000000000000098.kept"), b"given up").expect("write");
    fs::write(dir.path().join("streams/s/00000000000000000099.tmp"), b"half").expect("write");
    let active = dir.path().join(numbered("log", newest(dir.path(), "log"), "log"));
    let end = fs::read(&active).expect("read").iter().rposition(|byte| *byte != 0).expect("records") as u64;
    flip(&active, end - 10);
    assert!(copy(dir.path(), target.path()).expect("copied"));
    assert_whole(target.path());
    assert!(!target.path().join("log/00000000000000000098.kept").exists());
}

#[test]
fn damage_in_what_is_written_last_keeps_it_from_being_copied() {
    let (dir, target) = (folder(), tempfile::tempdir().expect("a folder"));
    let path = dir.path().join(numbered("log", newest(dir.path(), "log"), "log"));
    flip(&path, 10_000);
    let error = copy(dir.path(), target.path()).expect_err("a copy would end there");
    assert!(matches!(&error, StoreError::Corrupt { file, .. } if *file == path), "{error}");
}

#[test]
fn a_copy_is_broken_off_when_nobody_wants_more() {
    let (dir, target) = (folder(), tempfile::tempdir().expect("a folder"));
    let mut seen = 0;
    let done = copy_folder(&OsDisk, dir.path(), target.path(), &mut |_, _| {
        seen += 1;
        if seen < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(!done.expect("no error") && seen == 3);
}

/// Ends the writer, however the test ends.
struct Done<'d>(&'d AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Has a copy all that was committed before it began, however much is written, purged and compacted meanwhile?
#[test]
fn copies_of_a_folder_in_use_are_what_a_crash_would_have_left() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut opened = open(dir.path()).expect("open");
    opened.fill(300);
    let (entries, messages) = (opened.entries.clone(), opened.messages.clone());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                opened.fill(30);
                let last = opened.entries.group(GROUPS[0]).expect("a group").last_index;
                for group in GROUPS {
                    let mut draft = opened.entries.new_snapshot(group, last, 0).expect("a snapshot");
                    std::io::Write::write_all(&mut draft, &last.to_le_bytes()).expect("written");
                    draft.finish().expect("durable");
                    opened.journal.purge(group, last, 0).expect("purge");
                }
                opened.commit();
                opened.journal.compact(&mut |_, index| index % 7 == 0, 1 << 20).expect("compact");
                opened.log.retain(0).expect("retain");
            }
        });
        let _done = Done(&done);
        for _ in 0..15 {
            let target = tempfile::tempdir().expect("a folder");
            let before = entries.group(GROUPS[1]).expect("a group").last_index;
            let offset = messages.streams()[0].partitions[0].next_offset;
            assert!(copy(dir.path(), target.path()).expect("copied"));
            // An index that compaction had not written yet is made again.
            let damage = troubles(target.path()).into_iter().find(|trouble| trouble.1 == Severity::Damage);
            assert_eq!(damage, None);
            let copied = open(target.path()).expect("it starts");
            let group = copied.entries.group(GROUPS[1]).expect("a group");
            let snapshot = copied.entries.snapshot(GROUPS[1]).expect("a look").map_or(0, |snapshot| snapshot.index());
            assert!(group.last_index >= before, "{} < {before}", group.last_index);
            assert!((group.purged_index..=group.last_index).contains(&snapshot), "{snapshot} {group:?}");
            let found = copied.entries_of(GROUPS[1]);
            let expected = (1..=group.last_index).filter(|index| index % 7 == 0 || *index > group.purged_index);
            assert!(expected.clone().all(|index| found[&index] == body(15, index)));
            assert!(copied.messages.streams()[0].partitions[0].next_offset >= offset);
            assert!(copied.messages_of(0).iter().all(|(offset, found)| *found == body(0, *offset)));
        }
    });
}

/// A folder that is copied between the record by which a snapshot from another node counts and its name: has the copy that
/// snapshot, and one that does not count not? Is that said of the folder too?
#[test]
fn a_snapshot_that_came_from_another_node_is_copied_when_it_counts() {
    let (dir, target) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut opened = open(dir.path()).expect("open");
    let covered = Covered { index: 40, raft_index: 20, term: 4 };
    let receive = |group| {
        let mut draft = opened.entries.receive_snapshot(group, covered, 0, 0).expect("begun");
        std::io::Write::write_all(&mut draft, b"a state").expect("written");
        let body = body(u64::from(group.0), 11);
        let (index, term, raft_index, slot, message_id, appended_at_us) = (11, 1, 0, 7, 11, 1);
        let entry = Entry { group, index, term, raft_index, slot, message_id, appended_at_us, body: &body };
        draft.keep(entry).expect("kept");
        draft.finish().expect("durable")
    };
    let (mut counts, does_not) = (receive(GROUPS[0]), receive(GROUPS[1]));
    opened.journal.install(&mut counts).expect("installed");
    opened.commit();
    std::mem::forget(does_not);
    let snapshots = dir.path().join("log/snapshots");
    let received = "00-00000000000000000040-00000000000000000020.received";
    fs::rename(snapshots.join("00-00000000000000000040.snap"), snapshots.join(received)).expect("as before");
    assert!(copy(dir.path(), target.path()).expect("copied"));
    let names = |folder: &Path| {
        let names = fs::read_dir(folder.join("log/snapshots")).expect("a folder");
        names.map(|name| name.expect("a name").file_name().into_string().expect("text")).collect::<Vec<_>>()
    };
    assert_eq!(names(target.path()), [received]);
    drop(opened);
    let said = |name: &str, severity: Severity| {
        let is_it = |path: &Path| path.to_string_lossy().contains(name);
        assert!(troubles(dir.path()).iter().any(|trouble| is_it(&trouble.0) && trouble.1 == severity), "{name}");
    };
    said(received, Severity::Mends);
    said("15-00000000000000000040-00000000000000000020.received", Severity::Mends);
    for folder in [target.path(), dir.path()] {
        let copied = open(folder).expect("it starts");
        let snapshot = copied.entries.snapshot(GROUPS[0]).expect("a look").expect("it counts");
        assert_eq!((snapshot.index(), copied.entries_of(GROUPS[0]).len()), (40, 1));
        assert!(copied.entries.snapshot(GROUPS[1]).expect("a look").is_none());
        assert_eq!(names(folder), ["00-00000000000000000040.snap"]);
    }
}
