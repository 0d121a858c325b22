//! The bytes of version 1 of each frame, as nodes will send them for ever.

use lapwing_peer::{
    Fault, FaultKind, Frame, HEADER_BYTES, KeptRecord, Kind, List, Parsed, Record, SnapshotRefusal, SnapshotReply,
    Stage, Told, Verdict, parse, read_kept_records, read_records, write_kept_records, write_records,
};

use crate::hex::{bytes, frame};
use crate::samples::{ASK, BEGIN, CHUNK, END, HELLO, JOIN_REFUSED, PART, RAFT, REFUSED, REPLY, TOLD, WELCOME};

const MAX: usize = 1 << 20;

/// Panics unless `frame` is these bytes and they are it, unless each truncation waits for the rest, and unless another
/// version is what it should be.
fn check(sent: Frame<'_>, stage: Stage, body: &str) {
    let expected = frame(sent.kind(), &bytes(body));
    let mut encoded = vec![0xEE];
    assert_eq!(sent.encode(MAX, &mut encoded), Ok(expected.len()));
    assert_eq!(encoded[1..], expected, "{sent:?}");
    let more = [&expected[..], b"the next frame"].concat();
    assert_eq!(parse(&more, stage, MAX), Ok(Parsed::Frame(sent, expected.len())));
    for length in 0..expected.len() {
        let missing = if length < HEADER_BYTES { HEADER_BYTES } else { expected.len() } - length;
        assert_eq!(parse(&expected[..length], stage, MAX), Ok(Parsed::Need(missing)), "{length} bytes of {sent:?}");
    }
    check_shorter_bodies(sent, stage, &bytes(body));
    check_versions(sent, stage, &expected);
}

/// A body that ends early is none, but for those that end with bytes.
fn check_shorter_bodies(sent: Frame<'_>, stage: Stage, body: &[u8]) {
    let ends_with_bytes = matches!(sent.kind(), Kind::BatchPart | Kind::SnapshotChunk);
    for length in 0..body.len() {
        let cut = frame(sent.kind(), &body[..length]);
        assert!(parse(&cut, stage, MAX).is_err() || ends_with_bytes, "{length} bytes of the body of {sent:?}");
    }
    let longer = frame(sent.kind(), &[body, &[0]].concat());
    let kind = parse(&longer, stage, MAX).map_err(|fault| fault.kind);
    assert!(kind == Err(FaultKind::TrailingBytes) || ends_with_bytes, "{sent:?}: {kind:?}");
}

/// Version 0 is none, and a newer one is read only where it is promised: then with more behind it.
fn check_versions(sent: Frame<'_>, stage: Stage, expected: &[u8]) {
    let with_version = |version: u8, more: &[u8]| {
        let mut bytes = frame(sent.kind(), &[&expected[HEADER_BYTES..], more].concat());
        bytes[5] = version;
        bytes
    };
    let refused = |version: u8| {
        Err(Fault { kind: FaultKind::Version, what: "a frame of another version", at: 5, found: Some(version.into()) })
    };
    assert_eq!(parse(&with_version(0, b""), stage, MAX), refused(0));
    let newer = with_version(2, b"more");
    match sent.kind().is_read_in_any_version() {
        true => assert_eq!(parse(&newer, stage, MAX), Ok(Parsed::Frame(sent, newer.len()))),
        false => assert_eq!(parse(&newer, stage, MAX), refused(2)),
    }
}

#[test]
fn hello() {
    check(
        Frame::Hello(HELLO),
        Stage::Hello,
        "'LapwPeer' 0100 0300 01 07 0000 C1*16 F0*16 0500000000000000 0807060504030201
         0100 0200 00001000 0000000400000000 A0*32 A1*32 A2*32 A3*32 A4*32
         0B00 'lapwing/0.1' 0200 0F00 'n7.example:1890' 0A00 '[::1]:1890'",
    );
}

#[test]
fn refused() {
    for stage in [Stage::Hello, Stage::Raft, Stage::Snapshot, Stage::Asking, Stage::Answered] {
        check(Frame::Refused(REFUSED), stage, "04 00 0D00 'Remove node 7'");
    }
}

#[test]
fn batch_part() {
    let body = "03 000000 1E000000 0200000000000000 0900000000000000 1A000000 'body'";
    check(Frame::BatchPart(PART), Stage::Raft, body);
}

#[test]
fn raft() {
    let append = "03 01 07 01 00 00 0300000000000000 0100000000000000 0700000000000000 0700000000000000 00*24
                  0300 0200000000000000 0800000000000000 01
                       0300000000000000 0900000000000000 03 6400000000000000 02000000 30000000
                       0300000000000000 0A00000000000000 02 0500 '1,2,3'";
    let answer =
        "11 02 07 01 07 00 0300000000000000 00*16 0700000000000000 0200000000000000 0600000000000000 FF*8 0000";
    check(Frame::Raft(RAFT), Stage::Raft, &format!("0201000000000000 0200 {append} {answer}"));
}

#[test]
fn snapshot() {
    check(
        Frame::SnapshotBegin(BEGIN),
        Stage::Snapshot,
        "03 000000 02000000 CDAB000000000000 0400000000000000 E803000000000000 0300000000000000
         8813000000000000 4600000000000000 0010000000000000 0500 '1,2,3'",
    );
    check(Frame::SnapshotChunk(CHUNK), Stage::Snapshot, "02010000 'chunk'");
    check(Frame::SnapshotEnd(END), Stage::Snapshot, "03010000 EFBEADDE");
}

#[test]
fn snapshot_replies() {
    let reply = |verdict| Frame::SnapshotReply(SnapshotReply { verdict, ..REPLY });
    check(reply(Verdict::From(258)), Stage::Snapshot, "CDAB000000000000 03 01 00 00 02010000");
    check(reply(Verdict::Accepted), Stage::Snapshot, "CDAB000000000000 03 02 00 00 00000000");
    for (index, reason) in SnapshotRefusal::ALL.into_iter().enumerate() {
        let body = format!("CDAB000000000000 03 03 {:02X} 00 00000000", index + 1);
        check(reply(Verdict::Refused(reason)), Stage::Snapshot, &body);
    }
}

#[test]
fn joining() {
    check(
        Frame::JoinAsk(ASK),
        Stage::Asking,
        "5E*32 F0*16 01000000 02000000 A0*32 A1*32 A2*32 A3*32 A4*32 0400 'east' 0000 0B00 'lapwing/0.1'
         0100 0700 'n8:1890' 0E00 'BEGIN' 0A 'request' 0A",
    );
    check(
        Frame::JoinWelcome(WELCOME),
        Stage::Answered,
        "07 01 0000 C1*16 0500 'marsh' 0500 'mine' 0A 0500 'ours' 0A 0400 'key' 0A
         0100 01 00 0200 0700 'n1:1890' 0A00 '[::1]:1890'",
    );
    check(Frame::JoinRefused(JOIN_REFUSED), Stage::Answered, "09 00 0C00 'node 1 leads' 0700 'n1:1890'");
}

#[test]
fn told() {
    let clocks = "0201000000000000 0301000000000000 0300000000000000";
    check(Frame::Told(TOLD), Stage::Raft, &format!("0605040302010000 0000004001000000 02 00*7 {clocks}"));
    let little = Told { free_bytes: None, answers: None, ..TOLD };
    check(Frame::Told(little), Stage::Raft, "0605040302010000 FF*8 02 00*7 0201000000000000 00*16");
}

/// Is nothing shown by which one could join, or be a node?
#[test]
fn secrets_are_not_shown() {
    let shown = format!("{ASK:?} {WELCOME:?}");
    assert!(!shown.contains("94") && !shown.contains("key"), "{shown}");
}

#[test]
fn records() {
    let first = Record { slot: 4095, message_id: 0x0807, appended_at_us: -2, body: b"one" };
    let second = Record { slot: 0, message_id: 0, appended_at_us: 1, body: b"" };
    let expected = bytes(
        "03000000 FF0F 0000 0708000000000000 FEFFFFFFFFFFFFFF 'one'
         00000000 0000 0000 0000000000000000 0100000000000000",
    );
    let (records, mut out) = ([first, second], vec![]);
    assert_eq!(write_records(&List::from_slice(&records), &mut out), Ok(51));
    assert_eq!(out, expected);
    assert_eq!(read_records(&expected), Ok(List::from_slice(&records)));
    for length in 0..expected.len() {
        let is_whole = length == 0 || length == 27;
        assert_eq!(read_records(&expected[..length]).is_ok(), is_whole, "{length} bytes");
    }
}

#[test]
fn kept_records() {
    let record = Record { slot: 1, message_id: 2, appended_at_us: 3, body: b"four" };
    let kept = [KeptRecord { sequence: 9, term: 8, record }];
    let expected =
        bytes("0900000000000000 0800000000000000 04000000 0100 0000 0200000000000000 0300000000000000 'four'");
    let mut out = vec![];
    assert_eq!(write_kept_records(&List::from_slice(&kept), 44, &mut out), Ok(44));
    assert_eq!(out, expected);
    assert_eq!(read_kept_records(&expected), Ok(List::from_slice(&kept)));
    assert!((1..44).all(|length| read_kept_records(&expected[..length]).is_err()));
    assert!(write_kept_records(&List::from_slice(&kept), 43, &mut out).is_err());
    assert_eq!(out, expected, "nothing was written");
}
