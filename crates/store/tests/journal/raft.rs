//! The journal as the log of a Raft group: what follows and what does not, what is read by Raft index, and that a folder of a
//! node on its own goes over to a cluster.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::common::*;
use lapwing_store::disk::OsDisk;
use lapwing_store::journal::{
    Covered, DataGroupId, Entry, Journal, JournalConfig, JournalReader, JournalWriter, Marker, RaftEntry, RaftError,
    RaftRead,
};
use lapwing_store::{ReadLimits, StoreError};

const META: DataGroupId = DataGroupId::METADATA;

/// A batch of so many entries.
fn batch(writer: &mut JournalWriter, group: DataGroupId, (raft_index, term): (u64, u64), count: u64) {
    for _ in 0..count {
        let index = writer.next_index(group).expect("a group");
        let body = body(group, index);
        writer.append(Entry { raft_index, ..entry(group, index, term, &body) }).expect("an append");
    }
}

fn marker(group: DataGroupId, raft_index: u64, term: u64, body: &[u8]) -> Marker<'_> {
    Marker { group, raft_index, term, body }
}

/// Raft index, and the entry or none.
fn read_raft(reader: &JournalReader, group: DataGroupId, from: u64, limits: ReadLimits) -> (Vec<(u64, u64)>, RaftRead) {
    let mut found = vec![];
    let read = reader.read_raft(group, from, u64::MAX, limits, &mut |entry| {
        found.push(match entry {
            RaftEntry::Entry(entry) => {
                assert_eq!((entry.group, entry.body), (group, &body(group, entry.index)[..]));
                (entry.raft_index, entry.index)
            }
            RaftEntry::Marker(marker) => {
                assert_eq!((marker.group, marker.body), (group, &b"a marker"[..]));
                (marker.raft_index, 0)
            }
        });
        ControlFlow::Continue(())
    });
    (found, read.expect("a read"))
}

/// Batches 1 (entries 1 to 3) and 2 (4), marker 3, batch 4 (5 and 6); a marker 1 in the group of the metadata.
fn filled(writer: &mut JournalWriter) {
    batch(writer, A, (1, 1), 3);
    batch(writer, A, (2, 1), 1);
    writer.mark(marker(A, 3, 2, b"a marker")).expect("a marker");
    batch(writer, A, (4, 2), 2);
    writer.mark(marker(META, 1, 1, b"a marker")).expect("a marker");
    writer.vote(META, b"for me").expect("a vote");
}

#[test]
fn batches_and_markers_are_read_by_raft_index_now_and_after_reopening() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    filled(&mut writer);
    assert_eq!(writer.commit().expect("commit").entries, 6, "a marker is no entry");
    let check = |reader: &JournalReader| {
        let (found, read) = read_raft(reader, A, 1, EVERYTHING);
        assert_eq!(found, [(1, 1), (1, 2), (1, 3), (2, 4), (3, 0), (4, 5), (4, 6)]);
        assert_eq!((read.entries, read.next_raft_index), (7, 5));
        assert_eq!(read_raft(reader, A, 3, EVERYTHING).0, [(3, 0), (4, 5), (4, 6)]);
        assert_eq!(read_raft(reader, META, 1, EVERYTHING).0, [(1, 0)]);
        assert_eq!(read_raft(reader, B, 1, EVERYTHING).1.entries, 0);
        let log = reader.group(A).expect("a group");
        assert_eq!((log.last_index, log.last_term, log.last_raft_index, log.last_raft_term), (6, 2, 4, 2));
        assert_eq!(reader.group(META).expect("a group").vote, b"for me");
        let term = |raft_index| reader.raft_term(A, raft_index).expect("a group");
        assert_eq!([0, 1, 2, 3, 4, 5].map(term), [None, Some(1), Some(1), Some(2), Some(2), None]);
        let through = |raft_index| reader.index_through(A, raft_index).expect("a group");
        assert_eq!([1, 2, 3, 4, 5].map(through), [Some(3), Some(4), Some(4), Some(6), None]);
        assert_eq!(get(reader, A, 3).expect("an entry").raft_index, 1);
    };
    check(&reader);
    drop(writer);
    let (mut writer, reader) = open(dir.path()).expect("open");
    check(&reader);
    // Over segments: what is not in the newest one either.
    fill_b(&mut writer);
    check(&reader);
    drop(writer);
    check(&open(dir.path()).expect("open").1);
}

fn fill_b(writer: &mut JournalWriter) {
    for _ in 0..600 {
        let index = writer.next_index(B).expect("a group");
        append(writer, B, &body(B, index));
        writer.commit().expect("commit");
    }
}

#[test]
fn a_read_ends_between_two_batches() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    filled(&mut writer);
    writer.commit().expect("commit");
    let read = |from, messages_max, bytes_max| {
        let (found, read) = read_raft(&reader, A, from, ReadLimits { messages_max, bytes_max });
        (found.len(), read.next_raft_index)
    };
    assert_eq!([read(1, 1, u64::MAX), read(1, 4, u64::MAX), read(1, 5, u64::MAX)], [(3, 2), (4, 3), (5, 4)]);
    assert_eq!([read(1, 99, 1), read(4, 0, 0), read(5, 9, 9)], [(3, 2), (2, 5), (0, 5)]);
    let mut seen = 0;
    let broken = reader.read_raft(A, 2, 3, EVERYTHING, &mut |_| {
        seen += 1;
        ControlFlow::Break(())
    });
    assert_eq!((broken.expect("a read").next_raft_index, seen), (3, 1));
}

#[test]
fn what_does_not_follow_by_raft_index_is_refused_and_changes_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    filled(&mut writer);
    let mut append = |raft_index, term| writer.append(Entry { raft_index, ..entry(A, 7, term, b"x") });
    for (raft_index, term) in [(0, 2), (3, 2), (4, 3)] {
        let error = append(raft_index, term).expect_err("it does not follow");
        let fell = matches!(error, StoreError::Raft(RaftError::IndexFell { group: 0, last_raft_index: 4, .. }));
        assert!(fell && error.to_string().contains("the last one is 4"), "{error}");
    }
    assert!(matches!(append(5, 1), Err(StoreError::TermFell { last_term: 2, .. })));
    assert!(matches!(append(1 << 62, 2), Err(StoreError::NumbersEnd { .. })));
    let fell = writer.mark(marker(A, 4, 2, b""));
    assert!(matches!(fell, Err(StoreError::Raft(RaftError::IndexFell { raft_index: 4, .. }))));
    assert!(matches!(writer.mark(marker(A, 5, 1, b"")), Err(StoreError::TermFell { .. })));
    assert!(matches!(writer.mark(marker(A, 5, 2, &[0; 4097])), Err(StoreError::BodyTooLarge { .. })));
    assert!(matches!(writer.mark(marker(DataGroupId(16), 5, 2, b"")), Err(StoreError::NoDataGroup { .. })));
    writer.mark(marker(A, 5, 7, b"")).expect("a marker");
    let older = writer.append(Entry { raft_index: 6, ..entry(A, 7, 6, b"x") });
    assert!(matches!(older, Err(StoreError::TermFell { last_term: 7, .. })), "than the marker's");
    for refused in [writer.truncate(A, 3), writer.purge(A, 3, 1)] {
        assert!(matches!(refused, Err(StoreError::Raft(RaftError::HasRaftIndexes { group: 0 }))), "{refused:?}");
    }
    writer.commit().expect("commit");
    let log = reader.group(A).expect("a group");
    assert_eq!((log.last_index, log.last_raft_index, log.last_raft_term), (6, 5, 7));
}

#[test]
fn what_is_truncated_by_raft_index_is_void_with_its_markers() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    filled(&mut writer);
    writer.commit().expect("commit");
    writer.truncate_raft(A, 9).expect("nothing to cut");
    writer.truncate_raft(A, 3).expect("truncate");
    writer.mark(marker(A, 3, 5, b"a marker")).expect("a marker");
    writer.truncate_raft(A, 3).expect("a marker alone");
    batch(&mut writer, A, (3, 6), 2);
    writer.commit().expect("commit");
    let check = |reader: &JournalReader| {
        assert_eq!(read_raft(reader, A, 1, EVERYTHING).0, [(1, 1), (1, 2), (1, 3), (2, 4), (3, 5), (3, 6)]);
        assert_eq!((read_all(reader, A).len(), reader.raft_term(A, 3).expect("a group")), (6, Some(6)));
    };
    check(&reader);
    drop(writer);
    check(&open(dir.path()).expect("open").1);
}

#[test]
fn a_purge_names_an_entry_and_a_raft_index_that_belong_together() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    filled(&mut writer);
    let covered = |index, raft_index, term| Covered { index, raft_index, term };
    for (index, raft_index, ends_with) in [(3, 2, 4), (5, 4, 6), (5, 9, 6)] {
        let error = writer.purge_raft(A, covered(index, raft_index, 2)).expect_err("they do not");
        let expected = RaftError::NotCovered { group: 0, raft_index, index, ends_with };
        assert!(matches!(error, StoreError::Raft(found) if found == expected), "{error}");
    }
    writer.purge_raft(A, covered(4, 3, 99)).expect("purge");
    writer.purge_raft(A, covered(4, 2, 1)).expect("never back");
    assert!(matches!(writer.truncate_raft(A, 3), Err(StoreError::Raft(RaftError::Purged { .. }))));
    writer.purge_raft(B, covered(500, 70, 8)).expect("from elsewhere");
    batch(&mut writer, B, (71, 8), 1);
    writer.commit().expect("commit");
    let check = |reader: &JournalReader| {
        let log = reader.group(A).expect("a group");
        assert_eq!((log.purged_index, log.purged_raft_index, log.purged_raft_term), (4, 3, 2));
        assert_eq!(read_raft(reader, A, 4, EVERYTHING).0, [(4, 5), (4, 6)]);
        assert_eq!(reader.raft_term(A, 3).expect("a group"), Some(2), "what an engine asks for first");
        let read = reader.read_raft(A, 3, 9, EVERYTHING, &mut |_| ControlFlow::Continue(()));
        assert!(matches!(read, Err(StoreError::Raft(RaftError::Purged { purged_raft_index: 3, .. }))), "{read:?}");
        let log = reader.group(B).expect("a group");
        assert_eq!((log.first_index, log.last_index, log.last_raft_index, log.purged_raft_term), (501, 501, 71, 8));
        assert_eq!(read_raft(reader, B, 71, EVERYTHING).0, [(71, 501)]);
    };
    check(&reader);
    drop(writer);
    let (mut writer, reader) = open(dir.path()).expect("open");
    check(&reader);
    for _ in 0..400 {
        append(&mut writer, DataGroupId(7), &[7; 200]);
        writer.commit().expect("commit");
    }
    drop(writer);
    check(&open(dir.path()).expect("open, with checkpoints of later segments").1);
}

/// Is the first thing of a cluster in a segment that says so at its head, and is all from before there, with its numbers going on?
#[test]
fn a_folder_of_one_node_goes_over_to_a_cluster() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill(&mut writer, 100);
    let segments = reader.info().segments;
    writer.purge_raft(A, Covered { index: 100, raft_index: 1, term: 1 }).expect("as a cluster begins");
    writer.commit().expect("commit");
    assert_eq!(reader.info().segments, segments + 1);
    batch(&mut writer, A, (2, 1), 3);
    batch(&mut writer, META, (1, 1), 2);
    append(&mut writer, B, &body(B, 101));
    writer.commit().expect("commit");
    assert_eq!(reader.info().segments, segments + 1, "once");
    drop(writer);
    let (mut writer, reader) = open(dir.path()).expect("open");
    assert!(reader.take_notices().is_empty());
    assert_filled(&reader, A, 1, 103);
    assert_filled(&reader, B, 1, 101);
    assert_filled(&reader, META, 1, 2);
    let log = reader.group(A).expect("a group");
    assert_eq!((log.purged_index, log.purged_raft_index, log.last_raft_index), (100, 1, 2));
    assert!(matches!(writer.append(entry(A, 104, 1, b"x")), Err(StoreError::Raft(_))), "there is no way back");
}

/// Is a batch taken whole or not at all: where too much waits, where one of its bodies is too large, and where it is larger than
/// all that may wait?
#[test]
fn a_batch_is_never_cut_in_two() {
    let dir = tempfile::tempdir().expect("a folder");
    let config = JournalConfig { pending_bytes_max: 4 << 10, body_bytes_max: 2 << 10, ..small() };
    let (mut writer, reader) = Journal::open_on(Arc::new(OsDisk), dir.path(), &config).expect("open");
    let bodies: Vec<Vec<u8>> = (0..9).map(|number| vec![number; 1 << 10]).collect();
    let entries = |first: u64, raft_index: u64, count: usize| {
        let bodies = &bodies;
        (0..count).map(move |at| Entry { raft_index, ..entry(A, first + at as u64, 1, &bodies[at]) })
    };
    writer.append_batch(entries(1, 1, 9)).expect("nothing waits");
    let before = writer.pending_bytes();
    assert!(before > config.pending_bytes_max);
    let refused = writer.append_batch(entries(10, 2, 1));
    assert!(matches!(refused, Err(StoreError::Pending { .. })), "{refused:?}");
    writer.commit().expect("commit");
    writer.append_batch(entries(10, 2, 2)).expect("there is room");
    let refused = writer.append_batch(entries(12, 3, 2));
    assert!(matches!(refused, Err(StoreError::Pending { .. })), "half of it would have room: {refused:?}");
    let large = vec![0; 3 << 10];
    let with_large = entries(12, 3, 1).chain([Entry { raft_index: 3, ..entry(A, 13, 1, &large) }]);
    let refused = writer.append_batch(with_large);
    assert!(matches!(refused, Err(StoreError::BodyTooLarge { .. })), "{refused:?}");
    assert!(matches!(writer.append_batch(entries(12, 2, 1)), Ok(())), "it goes on with the last batch");
    writer.commit().expect("commit");
    assert!(matches!(writer.append_batch(entries(12, 3, 1)), Err(StoreError::NotNext { .. })), "it is there");
    assert!(matches!(writer.append_batch(entries(13, 1, 1)), Err(StoreError::Raft(_))));
    assert_eq!(writer.pending_bytes(), 0);
    assert_eq!(reader.group(A).expect("a group").last_index, 12);
}

/// Do entries keep their Raft index where compaction moves them, do markers that are not purged live on when their segments go, and
/// is the index of a segment made again as it was?
#[test]
fn compaction_takes_nothing_that_raft_needs() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    writer.mark(marker(META, 1, 1, b"a marker")).expect("a marker");
    for raft_index in 1..=600 {
        batch(&mut writer, A, (raft_index, 1), 2);
        batch(&mut writer, META, (raft_index + 1, 1), 1);
        writer.commit().expect("commit");
    }
    writer.mark(marker(B, 1, 3, b"a marker")).expect("a marker");
    writer.purge_raft(A, Covered { index: 1000, raft_index: 500, term: 1 }).expect("purge");
    writer.purge_raft(META, Covered { index: 500, raft_index: 501, term: 1 }).expect("purge");
    writer.commit().expect("commit");
    let is_live = |group, index: u64| group == A && index.is_multiple_of(50) || group == META && index == 7;
    let before = reader.info().segments;
    for _ in 0..9 {
        while !writer.compact(&mut |group, index| is_live(group, index), 1 << 20).expect("compact").round_over {}
    }
    assert!(reader.info().kept_segments > 0 && reader.info().segments < before / 2, "{:?}", reader.info());
    let check = |reader: &JournalReader| {
        assert_eq!(get(reader, A, 50).expect("it is kept").raft_index, 25);
        assert_eq!(get(reader, META, 7).expect("it is kept").body, body(META, 7));
        let (found, _) = read_raft(reader, A, 501, EVERYTHING);
        assert!(found.iter().copied().eq((1001..=1200).map(|index: u64| (index.div_ceil(2), index))));
        assert_eq!(read_raft(reader, META, 502, EVERYTHING).0.len(), 100);
        assert_eq!(read_raft(reader, B, 1, EVERYTHING).0, [(1, 0)]);
    };
    check(&reader);
    drop(writer);
    let log = dir.path().join("log");
    let files = std::fs::read_dir(&log).expect("a folder").map(|file| file.expect("an entry").path());
    for index in files.filter(|path| path.extension().is_some_and(|ending| ending == "idx")) {
        let before = std::fs::read(&index).expect("read");
        std::fs::remove_file(&index).expect("remove");
        let (_writer, reader) = open(dir.path()).expect("open");
        check(&reader);
        assert_eq!(std::fs::read(&index).expect("made again"), before, "{}", index.display());
    }
}

/// Is a torn or damaged marker what any torn or damaged record is?
#[test]
fn a_damaged_marker_is_told_like_any_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    filled(&mut writer);
    writer.commit().expect("commit");
    let at = reader.info().bytes;
    writer.mark(marker(A, 5, 2, b"a marker")).expect("a marker");
    writer.commit().expect("commit");
    let end = reader.info().bytes;
    drop(writer);
    let file = dir.path().join(format!("log/{:020}.log", 2));
    let whole = std::fs::read(&file).expect("read");
    let segment_one = dir.path().join(format!("log/{:020}.log", 1));
    let first = std::fs::metadata(&segment_one).expect("a file").len();
    let (at, end) = ((at - first) as usize, (end - first) as usize);
    for cut in at..end {
        let mut torn = whole.clone();
        torn[cut] ^= 0x10;
        std::fs::write(&file, &torn).expect("write");
        let (_writer, reader) = open(dir.path()).expect("a torn tail is no error");
        let log = reader.group(A).expect("a group");
        assert_eq!((log.last_raft_index, read_raft(&reader, A, 1, EVERYTHING).0.len()), (4, 7), "byte {cut}");
    }
    std::fs::write(&file, &whole).expect("write");
    let (writer, _) = open(dir.path()).expect("open");
    writer.close().expect("close");
    let whole = std::fs::read(&file).expect("read");
    for cut in at..end {
        let mut damaged = whole.clone();
        damaged[cut] ^= 0x10;
        std::fs::write(&file, &damaged).expect("write");
        let error = open(dir.path()).expect_err("damage");
        assert!(matches!(error, StoreError::Corrupt { .. }), "byte {cut}: {error}");
    }
}
