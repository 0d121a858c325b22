//! A snapshot as it comes: in order, within its bounds, and on from where it was cut off.

use lapwing_peer::{
    Fault, FaultKind, SnapshotBegin, SnapshotChunk, SnapshotEnd, SnapshotIntake, SnapshotLimits, SnapshotProgress,
    SnapshotRefusal,
};

use crate::samples::BEGIN;

const LIMITS: SnapshotLimits = SnapshotLimits { bytes_max: 4096, chunks_max: 4 };

fn intake(before: Option<SnapshotProgress>) -> SnapshotIntake {
    SnapshotIntake::begin(&BEGIN, LIMITS, before).unwrap()
}

fn chunk(number: u32, bytes: &[u8]) -> SnapshotChunk<'_> {
    SnapshotChunk { number, bytes }
}

fn end(chunks: u32, all: &[u8]) -> SnapshotEnd {
    SnapshotEnd { chunks, crc: crc32c::crc32c(all) }
}

fn kind(result: Result<(), Fault>) -> Result<(), FaultKind> {
    result.map_err(|fault| fault.kind)
}

#[test]
fn chunks_come_in_order() {
    let mut intake = intake(None);
    assert_eq!(kind(intake.chunk(&chunk(1, b"two"))), Err(FaultKind::Gap));
    assert_eq!(kind(intake.chunk(&chunk(0, b"one"))), Ok(()));
    assert_eq!(kind(intake.chunk(&chunk(0, b"one"))), Err(FaultKind::Gap), "once");
    assert!(intake.is_state_next());
    assert_eq!(kind(intake.end(&end(1, b"one"))), Err(FaultKind::Gap), "the state has two");
    assert_eq!(kind(intake.chunk(&chunk(1, b"two"))), Ok(()));
    assert!(!intake.is_state_next());
    assert_eq!(kind(intake.end(&end(3, b"onetwo"))), Err(FaultKind::Gap));
    assert_eq!(kind(intake.end(&end(2, b"onetwp"))), Err(FaultKind::Checksum));
    assert_eq!(kind(intake.end(&end(2, b"onetwo"))), Ok(()));
}

#[test]
fn bounds_are_kept() {
    let begin = |begin: SnapshotBegin<'_>| SnapshotIntake::begin(&begin, LIMITS, None).map(|_| ());
    assert_eq!(begin(SnapshotBegin { bytes: 4097, ..BEGIN }), Err(SnapshotRefusal::TooLarge));
    assert_eq!(begin(SnapshotBegin { state_chunks: 5, ..BEGIN }), Err(SnapshotRefusal::TooLarge));
    let mut many = intake(None);
    (0..4).for_each(|number| many.chunk(&chunk(number, b"x")).unwrap());
    assert_eq!(kind(many.chunk(&chunk(4, b"x"))), Err(FaultKind::TooLong));
    let mut large = intake(None);
    large.chunk(&chunk(0, &[0; 4000])).unwrap();
    let before = large;
    assert_eq!(kind(large.chunk(&chunk(1, &[0; 97]))), Err(FaultKind::TooLong));
    assert_eq!(large, before, "nothing was counted");
    assert_eq!(kind(large.chunk(&chunk(1, &[0; 96]))), Ok(()));
}

/// Wherever it is cut off, does it go on there, and end with the same checksum?
#[test]
fn it_goes_on_where_it_was_cut_off() {
    let chunks: [&[u8]; 4] = [b"one", b"two", b"three", b"four"];
    for cut in 0..=chunks.len() {
        let mut first = intake(None);
        (0..cut).for_each(|number| first.chunk(&chunk(number as u32, chunks[number])).unwrap());
        let mut second = intake(Some(first.progress()));
        assert_eq!(second.next_chunk() as usize, cut);
        (cut..4).for_each(|number| second.chunk(&chunk(number as u32, chunks[number])).unwrap());
        assert_eq!(kind(second.end(&end(4, &chunks.concat()))), Ok(()), "cut at {cut}");
    }
}

#[test]
fn what_is_there_of_another_snapshot_is_of_no_use() {
    let mut first = intake(None);
    first.chunk(&chunk(0, b"one")).unwrap();
    let begin =
        |begin: SnapshotBegin<'_>| SnapshotIntake::begin(&begin, LIMITS, Some(first.progress())).unwrap().progress();
    let anew = |snapshot| SnapshotProgress { snapshot, next_chunk: 0, bytes: 0, crc: 0 };
    assert_eq!(begin(SnapshotBegin { snapshot: 1, ..BEGIN }), anew(1));
    assert_eq!(begin(SnapshotBegin { bytes: 2, ..BEGIN }), anew(BEGIN.snapshot), "more than there is of it");
    assert_eq!(begin(BEGIN), first.progress());
}
