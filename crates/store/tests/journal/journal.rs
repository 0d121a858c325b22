//! The journal on a real file system: what is appended and committed can be read, now and after reopening.

use std::ops::ControlFlow;

use crate::common::*;
use lapwing_store::journal::{DataGroupId, DataGroupLog, JournalConfig};
use lapwing_store::{Log, LogConfig, ReadLimits, StoreError};

#[test]
fn readers_see_what_is_committed_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    assert_eq!((append(&mut writer, A, b"one"), append(&mut writer, A, b"")), (1, 2));
    writer.vote(B, b"for nobody").expect("a vote");
    assert!(read_all(&reader, A).is_empty() && get(&reader, A, 1).is_none(), "not committed yet");
    assert_eq!(reader.group(A).expect("a group"), DataGroupLog { first_index: 1, ..DataGroupLog::default() });
    assert!(writer.pending_bytes() > 0);
    let committed = writer.commit().expect("commit");
    assert_eq!((committed.entries, writer.pending_bytes()), (2, 0));
    assert_eq!(read_all(&reader, A), [(1, b"one".to_vec()), (2, vec![])]);
    assert_eq!(reader.group(A).expect("a group").last_index, 2);
    assert_eq!(reader.group(B).expect("a group").vote, b"for nobody");
    assert_eq!(writer.commit().expect("nothing waits").entries, 0);
}

#[test]
fn everything_is_there_after_reopening_over_many_segments() {
    let dir = tempfile::tempdir().expect("a folder");
    for round in 1..=4 {
        let (mut writer, reader) = open(dir.path()).expect("open");
        fill(&mut writer, 500);
        if round % 2 == 0 {
            writer.close().expect("close");
        }
        assert_filled(&reader, A, 1, round * 500);
    }
    let (_writer, reader) = open(dir.path()).expect("open");
    for group in [A, B] {
        assert_filled(&reader, group, 1, 2000);
        assert_filled(&reader, group, 777, 2000);
    }
    assert!(reader.info().segments > 10, "{:?}", reader.info());
    assert!(reader.take_notices().is_empty(), "an orderly journal has nothing to say");
    assert_eq!((get(&reader, A, 0), get(&reader, A, 2001), get(&reader, DataGroupId(3), 1)), (None, None, None));
}

#[test]
fn an_entry_comes_back_with_its_times_and_ids() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    writer.append(entry(B, 1, 9, b"x")).expect("append");
    writer.commit().expect("commit");
    let found = get(&reader, B, 1).expect("it is there");
    assert_eq!((found.index, found.term, found.slot, found.message_id), (1, 9, 77, 1 ^ 0xABCD));
    assert_eq!((found.appended_at_us, &found.body[..]), (NOW_US, &b"x"[..]));
}

#[test]
fn what_does_not_follow_is_refused_and_changes_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, _) = open(dir.path()).expect("open");
    writer.append(entry(A, 1, 5, b"x")).expect("append");
    let error = writer.append(entry(A, 3, 5, b"x")).expect_err("a gap");
    assert!(matches!(error, StoreError::NotNext { group: 0, index: 3, next: 2 }), "{error}");
    assert!(error.to_string().contains('3') && error.to_string().contains('2'), "{error}");
    assert!(matches!(writer.append(entry(A, 1, 5, b"x")), Err(StoreError::NotNext { .. })), "again");
    assert!(matches!(writer.append(entry(A, 2, 4, b"x")), Err(StoreError::TermFell { last_term: 5, .. })));
    assert!(matches!(
        writer.append(entry(DataGroupId(16), 1, 0, b"x")),
        Err(StoreError::NoDataGroup { group: 16, .. })
    ));
    assert!(matches!(writer.vote(A, &[0; 257]), Err(StoreError::VoteTooLarge { .. })));
    writer.purge(A, 1, 0).expect("a purge");
    assert!(matches!(writer.truncate(A, 1), Err(StoreError::BelowPurged { purged_index: 1, .. })));
    writer.append(entry(A, 2, 5, b"x")).expect("the journal goes on");
    writer.commit().expect("commit");
}

#[test]
fn limits_are_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, _) = Log::open(dir.path(), &LogConfig::default(), &[]).expect("open");
    let config = JournalConfig { pending_bytes_max: 1000, body_bytes_max: 2000, ..small() };
    let (mut writer, reader) = log.open_journal(&config).expect("open");
    assert!(matches!(
        writer.append(entry(A, 1, 0, &[0; 2001])),
        Err(StoreError::BodyTooLarge { body_bytes: 2001, body_bytes_max: 2000 })
    ));
    writer.append(entry(A, 1, 0, &[0; 2000])).expect("one always fits");
    let error = writer.append(entry(A, 2, 0, b"x")).expect_err("too much waits");
    assert!(matches!(error, StoreError::Pending { .. }) && error.is_retryable(), "{error}");
    assert!(matches!(writer.vote(A, b"x"), Err(StoreError::Pending { .. })));
    writer.commit().expect("commit");
    writer.append(entry(A, 2, 0, b"x")).expect("room again");
    writer.commit().expect("commit");
    assert_eq!(read_all(&reader, A).len(), 2);
    for segment_bytes in [(64 << 10) - 1, (1 << 30) + 1] {
        let error = log.open_journal(&JournalConfig { segment_bytes, ..small() }).expect_err("a limit");
        assert!(matches!(error, StoreError::JournalSetting { key: "segment_bytes", .. }), "{error}");
    }
}

#[test]
fn a_body_larger_than_a_segment_gets_a_segment_of_its_own() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    let large = vec![7; 300 << 10];
    for _ in 0..3 {
        append(&mut writer, A, b"small");
        append(&mut writer, B, &large);
        writer.commit().expect("commit");
    }
    drop(writer);
    let (_writer, again) = open(dir.path()).expect("open");
    for reader in [reader, again] {
        assert_eq!(read_all(&reader, A).len(), 3);
        assert!(read_all(&reader, B).iter().all(|entry| entry.1 == large));
    }
}

#[test]
fn a_read_stops_at_its_limits_and_hands_over_one_entry_at_least() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    for _ in 0..100 {
        append(&mut writer, A, &[1; 100]);
    }
    writer.commit().expect("commit");
    let read = |messages_max, bytes_max| {
        let limits = ReadLimits { messages_max, bytes_max };
        let read = reader.read(A, 10, 50, limits, &mut |_| ControlFlow::Continue(())).expect("read");
        (read.entries, read.bytes, read.next_index)
    };
    assert_eq!(read(7, u64::MAX), (7, 700, 17));
    assert_eq!(read(99, 350), (3, 300, 13));
    assert_eq!((read(99, 0), read(0, 99)), ((1, 100, 11), (0, 0, 10)));
    assert_eq!(read(99, u64::MAX), (41, 4100, 51));
    let broken = reader
        .read(A, 10, 50, EVERYTHING, &mut |entry| match entry.index {
            14 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
        .expect("read");
    assert_eq!((broken.entries, broken.next_index), (5, 15));
}

#[test]
fn many_entries_are_looked_up_at_once_wherever_they_lie() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill(&mut writer, 1500);
    for step in [1, 2, 7, 50, 400] {
        let wanted: Vec<u64> = (0..1600).step_by(step).map(|index| index as u64).collect();
        let mut found = vec![];
        let entries = reader
            .get_many(B, &wanted, &mut |entry| {
                assert_eq!(entry.body, body(B, entry.index));
                found.push(entry.index);
                ControlFlow::Continue(())
            })
            .expect("a look-up");
        let there: Vec<u64> = wanted.into_iter().filter(|index| (1..=1500).contains(index)).collect();
        assert_eq!((entries as usize, &found), (there.len(), &there));
    }
    let mut seen = 0;
    let stopped = reader.get_many(A, &[5, 700, 800], &mut |entry| {
        seen = entry.index;
        if entry.index == 700 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((stopped.expect("a look-up"), seen), (2, 700));
}

#[test]
fn a_replay_brings_every_group_in_order_from_where_it_is_asked() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, _) = open(dir.path()).expect("open");
    fill(&mut writer, 900);
    drop(writer);
    let (_writer, reader) = open(dir.path()).expect("open");
    let mut from = [1; 16];
    from[15] = 444;
    let mut next = from;
    let mut each = |entry: lapwing_store::journal::EntryView<'_>| {
        let place = usize::from(entry.group.0);
        assert_eq!((entry.index, entry.body), (next[place], &body(entry.group, entry.index)[..]));
        next[place] += 1;
        ControlFlow::Continue(())
    };
    let mut passed_bytes = 0;
    let replayed = reader.replay_telling(&from, &mut each, &mut |bytes| passed_bytes += bytes).expect("a replay");
    let bytes = reader.replay_bytes(&from).expect("a look");
    assert!(bytes > replayed.bytes && bytes < reader.info().bytes, "{bytes} of {:?}", reader.info());
    assert_eq!(passed_bytes, bytes, "and that is what it goes through");
    assert_eq!((next[0], next[15], next[3], replayed.entries), (901, 901, 1, 900 + 457));
    let mut seen = 0;
    reader
        .replay(&[1; 16], &mut |_| {
            seen += 1;
            if seen == 700 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("a replay");
    assert_eq!(seen, 700, "a break ends it");
}

#[test]
fn truncated_entries_are_gone_and_others_take_their_places() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill(&mut writer, 800);
    let expect = |reader: &lapwing_store::journal::JournalReader| {
        let found = read_all(reader, A);
        assert_eq!(found.len(), 410);
        assert!((1..).zip(&found).all(|(index, entry)| index == entry.0));
        assert!(found[..299].iter().all(|(index, found)| *found == body(A, *index)));
        assert!(found[299..400].iter().all(|(_, found)| found == b"second"));
        assert!(found[400..].iter().all(|(_, found)| found == b"third"));
        for index in [1, 299, 300, 400, 401, 410] {
            assert_eq!(get(reader, A, index).expect("it is there").body, found[index as usize - 1].1);
        }
        assert_eq!(get(reader, A, 411), None);
        let mut replayed = vec![];
        let each = &mut |entry: lapwing_store::journal::EntryView<'_>| {
            if entry.group == A {
                replayed.push((entry.index, entry.body.to_vec()));
            }
            ControlFlow::Continue(())
        };
        reader.replay(&[1; 16], each).expect("a replay");
        assert_eq!(replayed, found);
        assert_filled(reader, B, 1, 800);
        let log = reader.group(A).expect("a group");
        assert_eq!((log.last_index, log.last_term), (410, 4));
    };
    // Far back over segments; then twice within one batch.
    writer.truncate(A, 300).expect("truncate");
    (300..600).for_each(|index| writer.append(entry(A, index, 3, b"second")).expect("append"));
    writer.truncate(A, 401).expect("truncate");
    writer.append(entry(A, 401, 4, b"never seen")).expect("append");
    writer.truncate(A, 401).expect("truncate");
    writer.truncate(A, 999).expect("nothing to cut");
    (401..=410).for_each(|index| writer.append(entry(A, index, 4, b"third")).expect("append"));
    assert_filled(&reader, A, 1, 800);
    writer.commit().expect("commit");
    expect(&reader);
    fill_other(&mut writer, 400);
    expect_without_b(&reader);
    drop(writer);
    let (_writer, reader) = open(dir.path()).expect("open");
    let found = read_all(&reader, A);
    assert_eq!((found.len(), &found[305].1[..], &found[405].1[..]), (410, &b"second"[..], &b"third"[..]));
}

/// Pushes the truncations into sealed segments.
fn fill_other(writer: &mut lapwing_store::journal::JournalWriter, count: u64) {
    for number in 0..count {
        append(writer, DataGroupId(7), &body(A, number));
        writer.commit().expect("commit");
    }
}

fn expect_without_b(reader: &lapwing_store::journal::JournalReader) {
    assert_eq!(read_all(reader, A).len(), 410);
    assert_eq!(read_all(reader, DataGroupId(7)).len(), 400);
}

#[test]
fn a_purge_is_kept_and_one_beyond_the_end_moves_the_group_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill(&mut writer, 100);
    writer.purge(A, 60, 0).expect("purge");
    writer.purge(B, 500, 8).expect("purge");
    writer.append(entry(B, 501, 8, b"behind it")).expect("append");
    writer.vote(A, b"me").expect("vote");
    writer.commit().expect("commit");
    let check = |reader: &lapwing_store::journal::JournalReader| {
        let log = reader.group(A).expect("a group");
        assert_eq!((log.first_index, log.last_index, log.purged_index, &log.vote[..]), (61, 100, 60, &b"me"[..]));
        assert_eq!(read_all(reader, A).len(), 100, "what is purged is there until compaction takes it");
        let log = reader.group(B).expect("a group");
        assert_eq!((log.first_index, log.last_index, log.purged_term, log.last_term), (501, 501, 8, 8));
        assert_eq!(read(reader, B, 101, 900).expect("read"), [(501, b"behind it".to_vec())]);
        let mut replayed = 0;
        let mut from = [0; 16];
        (from[0], from[15]) = (61, 501);
        let each = &mut |entry: lapwing_store::journal::EntryView<'_>| {
            replayed += u32::from(entry.group != DataGroupId(7));
            ControlFlow::Continue(())
        };
        reader.replay(&from, each).expect("a replay");
        assert_eq!(replayed, 41);
    };
    check(&reader);
    drop(writer);
    check(&open(dir.path()).expect("open").1);
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill_other(&mut writer, 400);
    check(&reader);
    drop(writer);
    check(&open(dir.path()).expect("open, with checkpoints of later segments").1);
}

#[test]
fn the_folder_stays_locked_until_both_writers_are_gone() {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, _) = Log::open(dir.path(), &LogConfig::default(), &[]).expect("open");
    let (journal, _) = log.open_journal(&small()).expect("open");
    drop(log);
    assert!(matches!(open(dir.path()), Err(StoreError::Locked { .. })));
    drop(journal);
    open(dir.path()).expect("it was let go");
}
