//! What is no frame: why, and at which byte. And what cannot be written.

use lapwing_peer::bounds::{
    ADDRESSES_MAX, BATCH_BYTES_MAX, HELLO_BYTES_MAX, JOIN_ANSWER_BYTES_MAX, JOIN_ASK_BYTES_MAX, MEMBERSHIP_BYTES_MAX,
    NUMBER_MAX, SOFTWARE_BYTES_MAX, WORDS_BYTES_MAX,
};
use lapwing_peer::{
    Answered, BatchHead, BatchPart, Content, EncodeError, EntryHeader, FaultKind, Frame, Hello, Kind, List, Message,
    Parsed, Raft, Refused, SnapshotBegin, SnapshotChunk, Stage, Told, parse,
};

use crate::hex;
use crate::samples::{
    APPEND, ASK, BEGIN, CHUNK, END, ENTRIES, HEARTBEAT, HELLO, JOIN_REFUSED, PART, RAFT, REFUSED, REPLY, TOLD, WELCOME,
};

const MAX: usize = 1 << 20;

fn encoded(frame: Frame<'_>) -> Vec<u8> {
    let mut out = vec![];
    frame.encode(MAX, &mut out).expect("a sample");
    out
}

/// Why these bytes are refused, and where.
fn why(bytes: &[u8], stage: Stage) -> (FaultKind, usize) {
    match parse(bytes, stage, MAX) {
        Ok(parsed) => panic!("{parsed:?}"),
        Err(fault) => (fault.kind, fault.at),
    }
}

/// The same of a sample with other bytes from a place on.
fn changed(frame: Frame<'_>, stage: Stage, at: usize, with: &[u8]) -> (FaultKind, usize) {
    let mut bytes = encoded(frame);
    bytes[at..at + with.len()].copy_from_slice(with);
    why(&bytes, stage)
}

#[test]
fn a_length_is_judged_before_anything_is_gathered() {
    let header = |body_bytes: u32, kind: Kind| [&body_bytes.to_le_bytes()[..], &[kind.value(), 1, 0, 0]].concat();
    let longest = header(MAX as u32, Kind::Raft);
    assert_eq!(parse(&longest, Stage::Raft, MAX), Ok(Parsed::Need(MAX)));
    assert_eq!(why(&header(MAX as u32 + 1, Kind::Raft), Stage::Raft), (FaultKind::TooLong, 0));
    assert_eq!(why(&header(u32::MAX, Kind::Raft), Stage::Raft), (FaultKind::TooLong, 0));
    let hello = header(HELLO_BYTES_MAX as u32, Kind::Hello);
    assert_eq!(parse(&hello, Stage::Hello, MAX), Ok(Parsed::Need(HELLO_BYTES_MAX)));
    assert_eq!(why(&header(HELLO_BYTES_MAX as u32 + 1, Kind::Hello), Stage::Hello), (FaultKind::TooLong, 0));
    assert_eq!(why(b"GET / HTTP/1.1\r\n", Stage::Hello), (FaultKind::TooLong, 0), "somebody else's protocol");
}

#[test]
fn frames_have_their_stage() {
    let all = [
        (Frame::Hello(HELLO), Some(Stage::Hello)),
        (Frame::Refused(REFUSED), None),
        (Frame::BatchPart(PART), Some(Stage::Raft)),
        (Frame::Raft(RAFT), Some(Stage::Raft)),
        (Frame::SnapshotBegin(BEGIN), Some(Stage::Snapshot)),
        (Frame::SnapshotChunk(CHUNK), Some(Stage::Snapshot)),
        (Frame::SnapshotEnd(END), Some(Stage::Snapshot)),
        (Frame::SnapshotReply(REPLY), Some(Stage::Snapshot)),
        (Frame::JoinAsk(ASK), Some(Stage::Asking)),
        (Frame::JoinWelcome(WELCOME), Some(Stage::Answered)),
        (Frame::JoinRefused(JOIN_REFUSED), Some(Stage::Answered)),
        (Frame::Told(TOLD), Some(Stage::Raft)),
    ];
    for (frame, own) in all {
        for stage in [Stage::Hello, Stage::Raft, Stage::Snapshot, Stage::Asking, Stage::Answered] {
            let bytes = encoded(frame);
            match own.is_none_or(|own| own == stage) {
                true => assert_eq!(parse(&bytes, stage, MAX), Ok(Parsed::Frame(frame, bytes.len()))),
                false => assert_eq!(why(&bytes, stage), (FaultKind::OutOfPlace, 4)),
            }
        }
    }
}

#[test]
fn headers_that_nobody_writes() {
    for kind in [0, 13, 0x80, 0xFF] {
        assert_eq!(changed(Frame::Raft(RAFT), Stage::Raft, 4, &[kind]), (FaultKind::UnknownKind, 4));
    }
    assert_eq!(changed(Frame::Raft(RAFT), Stage::Raft, 7, &[1]), (FaultKind::Malformed, 6));
    assert_eq!(changed(Frame::Raft(RAFT), Stage::Raft, 5, &[2]), (FaultKind::Version, 5));
}

/// Is what a newcomer says, or hears, judged before it is gathered, and each field within its bound?
#[test]
fn what_nobody_says_to_join() {
    let header =
        |body_bytes: usize, kind: Kind| [&(body_bytes as u32).to_le_bytes()[..], &[kind.value(), 1, 0, 0]].concat();
    for (kind, stage, max) in [
        (Kind::JoinAsk, Stage::Asking, JOIN_ASK_BYTES_MAX),
        (Kind::JoinWelcome, Stage::Answered, JOIN_ANSWER_BYTES_MAX),
    ] {
        assert_eq!(parse(&header(max, kind), stage, MAX), Ok(Parsed::Need(max)));
        assert_eq!(why(&header(max + 1, kind), stage), (FaultKind::TooLong, 0));
    }
    let ask = |at, with: &[u8]| changed(Frame::JoinAsk(ASK), Stage::Asking, at, with);
    assert_eq!(ask(224, &[65, 0]), (FaultKind::TooLong, 224), "its name");
    assert_eq!(ask(226, b"ea t"), (FaultKind::Malformed, 226));
    assert_eq!(ask(256, &[1, 0x20]), (FaultKind::TooLong, 256), "its request");
    assert_eq!(ask(258, b"\x1B"), (FaultKind::Malformed, 258));
    let welcome = |at, with: &[u8]| changed(Frame::JoinWelcome(WELCOME), Stage::Answered, at, with);
    assert_eq!(welcome(8, &[0]), (FaultKind::Malformed, 8), "node 0");
    assert_eq!(welcome(9, &[2]), (FaultKind::Malformed, 9));
    assert_eq!(welcome(10, &[1]), (FaultKind::Malformed, 10));
}

#[test]
fn hellos_that_nobody_says() {
    let why = |at, with: &[u8]| changed(Frame::Hello(HELLO), Stage::Hello, at, with);
    assert_eq!(why(8, b"LapwPees"), (FaultKind::Magic, 8));
    assert_eq!(why(16, &[0, 0, 3, 0]), (FaultKind::Malformed, 16), "version 0");
    assert_eq!(why(16, &[4, 0, 3, 0]), (FaultKind::Malformed, 16), "from 4 to 3");
    assert_eq!(why(20, &[3]), (FaultKind::Malformed, 20), "another kind of connection");
    assert_eq!(why(21, &[0]), (FaultKind::Malformed, 21), "node 0");
    assert_eq!(why(22, &[1]), (FaultKind::Malformed, 22));
    assert_eq!(why(72, &[3, 0, 2, 0]), (FaultKind::Malformed, 72), "more in force than it reads");
    assert_eq!(why(76, &[0, 0, 3, 0]), (FaultKind::Malformed, 76), "no message fits");
    assert_eq!(why(248, &[65, 0]), (FaultKind::TooLong, 248), "its software");
    assert_eq!(why(250, b"lap wing"), (FaultKind::Malformed, 250));
    assert_eq!(why(250, "läpwing".as_bytes()), (FaultKind::Malformed, 250));
    assert_eq!(why(261, &[9, 0]), (FaultKind::TooLong, 261), "its addresses");
    assert_eq!(why(263, &[4, 1]), (FaultKind::TooLong, 263), "an address");
    assert_eq!(why(265, b"\x1B[2J"), (FaultKind::Malformed, 265));
    assert_eq!(why(261, &[3, 0]), (FaultKind::CutShort, 292));
}

#[test]
fn messages_that_no_engine_sends() {
    let why = |at, with: &[u8]| changed(Frame::Raft(RAFT), Stage::Raft, at, with);
    let beyond = (NUMBER_MAX + 1).to_le_bytes();
    // The first message begins at 18, its entries at 82.
    assert_eq!(why(16, &[1, 4]), (FaultKind::TooLong, 16), "1,025 messages");
    assert_eq!(why(18, &[16]), (FaultKind::Malformed, 18), "the journal's own");
    assert_eq!(why(19, &[11]), (FaultKind::Malformed, 19));
    assert_eq!(why(20, &[0]), (FaultKind::Malformed, 20));
    assert_eq!(why(22, &[8]), (FaultKind::Malformed, 22), "a flag");
    for at in [24, 32, 40, 48, 56, 64, 82, 90] {
        assert_eq!(why(at, &beyond), (FaultKind::Number, at));
    }
    assert_eq!(why(72, &[1]), (FaultKind::Malformed, 72), "a context without its flag");
    assert_eq!(why(80, &[1, 0x10]), (FaultKind::TooLong, 80), "4,097 entries");
    assert_eq!(why(19, &[7]), (FaultKind::Malformed, 18), "a heartbeat brings no entries");
    assert_eq!(why(40, &[8]), (FaultKind::Malformed, 18), "entries behind another index");
    assert_eq!(why(24, &[2]), (FaultKind::Malformed, 18), "entries of a term to come");
    assert_eq!(why(32, &[3]), (FaultKind::Malformed, 18), "a term that falls");
    assert_eq!(why(98, &[0]), (FaultKind::Malformed, 98), "an entry of another kind");
    assert_eq!(why(124, &[0]), (FaultKind::Malformed, 116), "a batch without records");
    assert_eq!(why(128, &[47]), (FaultKind::Malformed, 116), "a batch smaller than its records");
    assert_eq!(why(128, &[0xFF; 4]), (FaultKind::Malformed, 116), "a batch larger than any");
    assert_eq!(why(149, &[1, 4]), (FaultKind::TooLong, 149), "a membership");
}

#[test]
fn parts_and_chunks_that_are_none() {
    let why = |at, with: &[u8]| changed(Frame::BatchPart(PART), Stage::Raft, at, with);
    assert_eq!(why(8, &[18]), (FaultKind::Malformed, 8));
    assert_eq!(why(9, &[1]), (FaultKind::Malformed, 9));
    assert_eq!(why(12, &[29]), (FaultKind::Malformed, 8), "a part beyond its batch");
    assert_eq!(why(12, &[23]), (FaultKind::Malformed, 8), "a batch smaller than a record");
    assert_eq!(why(12, &(BATCH_BYTES_MAX + 1).to_le_bytes()), (FaultKind::Malformed, 8));
    assert_eq!(why(16, &[0xFF; 8]), (FaultKind::Number, 16));
    assert_eq!(why(32, &[0xFF; 4]), (FaultKind::Malformed, 8), "a place beyond its batch");
    let empty = hex::frame(Kind::BatchPart, &encoded(Frame::BatchPart(PART))[8..36]);
    assert_eq!(crate::faults::why(&empty, Stage::Raft), (FaultKind::Malformed, 8));
    let empty = hex::frame(Kind::SnapshotChunk, &[0; 4]);
    assert_eq!(crate::faults::why(&empty, Stage::Snapshot), (FaultKind::Malformed, 12));
}

#[test]
fn snapshots_that_are_none() {
    let begin = |at, with: &[u8]| changed(Frame::SnapshotBegin(BEGIN), Stage::Snapshot, at, with);
    assert_eq!(begin(24, &[2]), (FaultKind::Malformed, 8), "of a term that is still to come");
    assert_eq!(begin(64, &[0xFF; 8]), (FaultKind::Number, 64));
    assert_eq!(begin(72, &[1, 4]), (FaultKind::TooLong, 72));
    let reply = |at, with: &[u8]| changed(Frame::SnapshotReply(REPLY), Stage::Snapshot, at, with);
    for verdict in [[0, 0], [4, 0], [1, 1], [2, 0], [3, 0], [3, 7]] {
        assert_eq!(reply(17, &verdict), (FaultKind::Malformed, 17), "{verdict:?} with a chunk's number");
    }
    let refusal = |at, with: &[u8]| changed(Frame::Refused(REFUSED), Stage::Snapshot, at, with);
    assert_eq!(refusal(10, &[1, 4]), (FaultKind::TooLong, 10));
    assert_eq!(refusal(12, b"\n"), (FaultKind::Malformed, 12));
}

#[test]
fn what_no_node_says_of_itself() {
    let why = |at, with: &[u8]| changed(Frame::Told(TOLD), Stage::Raft, at, with);
    let beyond = (NUMBER_MAX + 1).to_le_bytes();
    for at in [8, 16, 32, 40, 48] {
        assert_eq!(why(at, &beyond), (FaultKind::Number, at));
    }
    for room in [0, 4, 0xFF] {
        assert_eq!(why(24, &[room]), (FaultKind::Malformed, 24), "a room {room}");
    }
    assert_eq!(why(25, &[1]), (FaultKind::Malformed, 25));
    assert_eq!(why(32, &[0; 8]), (FaultKind::Malformed, 32), "a clock that stands at 0");
    assert_eq!(why(40, &[0; 8]), (FaultKind::Malformed, 40), "nothing that was held");
}

/// Is what would be refused not written, and nothing left of it?
#[test]
fn what_nobody_could_read_is_not_written() {
    let long = "x".repeat(SOFTWARE_BYTES_MAX.max(WORDS_BYTES_MAX) + 1);
    let addresses = ["a:1"; ADDRESSES_MAX + 1];
    let empty_batch =
        [EntryHeader { content: Content::Batch(BatchHead { first_sequence: 1, count: 0, bytes: 0 }), ..ENTRIES[0] }];
    let many = [0; MEMBERSHIP_BYTES_MAX + 1];
    let messages = [
        Message { entries: List::from_slice(&ENTRIES), ..HEARTBEAT },
        Message { index: 6, ..APPEND },
        Message { term: 2, ..APPEND },
        Message { commit: NUMBER_MAX + 1, ..HEARTBEAT },
        Message { entries: List::from_slice(&empty_batch), ..APPEND },
    ];
    let too_many = [HEARTBEAT; 1025];
    let mut frames = vec![
        Frame::Hello(Hello { software: &long, ..HELLO }),
        Frame::Hello(Hello { software: "lap wing", ..HELLO }),
        Frame::Hello(Hello { addresses: List::from_slice(&addresses), ..HELLO }),
        Frame::Hello(Hello { frame_bytes_max: 1000, ..HELLO }),
        Frame::Refused(Refused { words: &long, ..REFUSED }),
        Frame::Refused(Refused { words: "\n", ..REFUSED }),
        Frame::BatchPart(BatchPart { bytes: b"", ..PART }),
        Frame::BatchPart(BatchPart { first_byte: 27, ..PART }),
        Frame::Raft(Raft { messages: List::from_slice(&too_many), ..RAFT }),
        Frame::SnapshotBegin(SnapshotBegin { membership: &many, ..BEGIN }),
        Frame::SnapshotBegin(SnapshotBegin { term: 5, ..BEGIN }),
        Frame::SnapshotChunk(SnapshotChunk { bytes: b"", ..CHUNK }),
        Frame::Told(Told { said_at_us: 0, ..TOLD }),
        Frame::Told(Told { free_bytes: Some(u64::MAX), ..TOLD }),
        Frame::Told(Told { answers: Some(Answered { said_at_us: 0, held_us: 1 }), ..TOLD }),
    ];
    let alone = |message| Frame::Raft(Raft { messages: List::from_slice(std::slice::from_ref(message)), ..RAFT });
    frames.extend(messages.iter().map(alone));
    for frame in frames {
        let mut out = vec![0xEE];
        assert!(frame.encode(MAX, &mut out).is_err(), "{frame:?}");
        assert_eq!(out, [0xEE]);
    }
}

/// Is a frame that is too large for the other node an error with its size, and do messages that fit go?
#[test]
fn a_turn_keeps_to_the_bound_of_the_other_node() {
    let whole = encoded(Frame::Raft(RAFT)).len() - 8;
    let mut out = vec![];
    let error = EncodeError::TooLong { what: "bytes of a frame", len: whole, max: whole - 1 };
    assert_eq!(Frame::Raft(RAFT).encode(whole - 1, &mut out), Err(error));
    assert!(out.is_empty() && Frame::Raft(RAFT).encode(whole, &mut out).is_ok());
    let messages = [APPEND, HEARTBEAT];
    let first = 10 + APPEND.encoded_bytes();
    let fitting = |max| Raft::fitting(&messages, max);
    assert_eq!([first - 1, first, first + 63, first + 64].map(fitting), [0, 1, 1, 2]);
    assert_eq!(Raft::fitting(&[HEARTBEAT; 2000], usize::MAX), 1024);
}
