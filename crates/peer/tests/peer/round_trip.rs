//! Does every frame that we write come back equal, whatever its fields say?

use lapwing_peer::bounds::{BATCH_BYTES_MAX, FRAME_BYTES_MIN, NUMBER_MAX};
use lapwing_peer::{
    Answered, BatchHead, BatchPart, Content, DiskRoom, EntryHeader, Frame, GroupNumber, Hello, JoinAsk, JoinCode,
    JoinMember, JoinRefused, JoinWelcome, KeptRecord, Levels, Link, List, Message, MessageKind, NodeId, Parsed, Raft,
    Record, Refused, SnapshotBegin, SnapshotChunk, SnapshotEnd, SnapshotRefusal, SnapshotReply, Stage, TableHashes,
    Told, Verdict, Versions, parse, read_kept_records, read_records, write_kept_records, write_records,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const MAX: usize = 1 << 24;

fn check(frame: Frame<'_>, stage: Stage) -> Result<(), TestCaseError> {
    let mut out = vec![0xAA];
    let len = frame.encode(MAX, &mut out).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(len, out.len() - 1);
    prop_assert_eq!(parse(&out[1..], stage, MAX), Ok(Parsed::Frame(frame, len)));
    prop_assert_eq!(parse(&out[1..len], stage, MAX), Ok(Parsed::Need(1)));
    Ok(())
}

fn group() -> impl Strategy<Value = GroupNumber> {
    select(GroupNumber::all().collect::<Vec<_>>())
}

fn node() -> impl Strategy<Value = NodeId> {
    (1..=u8::MAX).prop_map(|id| NodeId::new(id).expect("not 0"))
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..300_u64, 0..=NUMBER_MAX, Just(NUMBER_MAX)]
}

fn numbers() -> impl Strategy<Value = [u64; 6]> {
    [number(), number(), number(), number(), number(), number()]
}

fn bytes(len_max: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=len_max)
}

/// What an entry says, in owned parts.
#[derive(Clone, Debug)]
enum Owned {
    Blank,
    Membership(Vec<u8>),
    Batch(BatchHead),
}

impl Owned {
    fn content(&self) -> Content<'_> {
        match self {
            Owned::Blank => Content::Blank,
            Owned::Membership(bytes) => Content::Membership(bytes),
            Owned::Batch(head) => Content::Batch(*head),
        }
    }
}

fn batch_head() -> impl Strategy<Value = BatchHead> {
    (number(), 1..=1000_u32, 0..=BATCH_BYTES_MAX - 24_000).prop_map(|(first_sequence, count, more)| BatchHead {
        first_sequence,
        count,
        bytes: count * 24 + more,
    })
}

fn content() -> impl Strategy<Value = Owned> {
    prop_oneof![Just(Owned::Blank), bytes(40).prop_map(Owned::Membership), batch_head().prop_map(Owned::Batch)]
}

prop_compose! {
    /// A message without entries.
    fn message()(
        (group, kind, from, to) in (group(), select(MessageKind::ALL.to_vec()), node(), node()),
        [term, log_term, index, commit, commit_term, reject_hint] in numbers(),
        (reject, transfer, context) in any::<(bool, bool, Option<u64>)>(),
    ) -> Message<'static> {
        let entries = List::EMPTY;
        Message {
            group, kind, from, to, term, log_term, index, commit, commit_term, reject, reject_hint, transfer, context,
            entries,
        }
    }
}

fn record(body: &[u8], numbers: (u16, u64, i64)) -> Record<'_> {
    Record { slot: numbers.0, message_id: numbers.1, appended_at_us: numbers.2, body }
}

type OwnedRecord = ((u16, u64, i64), Vec<u8>);

fn records() -> impl Strategy<Value = Vec<OwnedRecord>> {
    vec((any::<(u16, u64, i64)>(), bytes(50)), 0..20)
}

proptest! {
    #[test]
    fn hello(
        (link, node) in (select(vec![Link::Raft, Link::Snapshot]), node()),
        [from, to, level, newest] in any::<[u16; 4]>(),
        (cluster, folder, boot, start) in any::<([u8; 16], [u8; 16], u64, u64)>(),
        (frame_bytes_max, window_bytes) in (FRAME_BYTES_MIN as u32.., any::<u64>()),
        tables in any::<[[u8; 32]; 5]>(),
        software in "[!-~]{0,64}",
        addresses in vec("[!-~]{0,259}", 0..=8),
    ) {
        let versions = Versions::new(from.min(to).max(1), from.max(to).max(1)).expect("in order");
        let levels = Levels::new(level.min(newest), level.max(newest)).expect("in order");
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let (tables, addresses) = (TableHashes::new(&tables), List::from_slice(&addresses));
        let hello = Hello {
            versions, link, node, cluster, folder, boot, start, levels, frame_bytes_max, window_bytes, tables,
            software: &software, addresses,
        };
        check(Frame::Hello(hello), Stage::Hello)?;
    }

    #[test]
    fn refused(code in any::<u8>(), words in "[ -~]{0,1024}") {
        check(Frame::Refused(Refused { code, words: &words }), Stage::Raft)?;
    }

    #[test]
    fn batch_part(
        (group, term, raft_index) in (group(), number(), number()),
        (first_byte, behind) in (0..1000_u32, 24..1000_u32),
        bytes in vec(any::<u8>(), 1..100),
    ) {
        let total_bytes = first_byte + behind + bytes.len() as u32;
        let part = BatchPart { group, term, raft_index, total_bytes, first_byte, bytes: &bytes };
        check(Frame::BatchPart(part), Stage::Raft)?;
    }

    #[test]
    fn raft(done_bytes in any::<u64>(), messages in vec(message(), 0..40)) {
        let raft = Raft { done_bytes, messages: List::from_slice(&messages) };
        prop_assert_eq!(Raft::fitting(&messages, 10 + 64 * messages.len()), messages.len());
        check(Frame::Raft(raft), Stage::Raft)?;
    }

    #[test]
    fn appends(
        message in message(),
        contents in vec(content(), 0..20),
        (term, index, steps) in (0..1_u64 << 40, 0..1_u64 << 40, vec(0..3_u64, 20)),
    ) {
        let mut last = term;
        let numbered = contents.iter().zip(&steps).zip(index + 1..);
        let entries: Vec<_> = numbered.map(|((content, step), raft_index)| {
            last += step;
            EntryHeader { term: last, raft_index, content: content.content() }
        }).collect();
        let (kind, entries) = (MessageKind::Append, List::from_slice(&entries));
        let append = Message { kind, term: last, log_term: term, index, entries, ..message };
        let messages = [append, message];
        let bytes = messages.iter().map(Message::encoded_bytes).sum::<usize>() + 10;
        let mut out = vec![];
        let frame = Frame::Raft(Raft { done_bytes: 0, messages: List::from_slice(&messages) });
        prop_assert_eq!(frame.encode(MAX, &mut out), Ok(8 + bytes));
        check(frame, Stage::Raft)?;
    }

    #[test]
    fn snapshot_begin(
        group in group(),
        (snapshot, state_chunks) in any::<(u64, u32)>(),
        [term, later, raft_index, last_sequence, entries, bytes_in_all] in numbers(),
        membership in bytes(1024),
    ) {
        let (term, leader_term) = (term.min(later), term.max(later));
        let begin = SnapshotBegin {
            group, snapshot, leader_term, raft_index, term, last_sequence, state_chunks, entries, bytes: bytes_in_all,
            membership: &membership,
        };
        check(Frame::SnapshotBegin(begin), Stage::Snapshot)?;
    }

    #[test]
    fn snapshot_chunks_and_ends((number, chunks, crc) in any::<(u32, u32, u32)>(), bytes in vec(any::<u8>(), 1..2000)) {
        check(Frame::SnapshotChunk(SnapshotChunk { number, bytes: &bytes }), Stage::Snapshot)?;
        check(Frame::SnapshotEnd(SnapshotEnd { chunks, crc }), Stage::Snapshot)?;
    }

    #[test]
    fn snapshot_replies(
        group in group(),
        (snapshot, chunk) in any::<(u64, u32)>(),
        reason in select(SnapshotRefusal::ALL.to_vec()),
    ) {
        for verdict in [Verdict::From(chunk), Verdict::Accepted, Verdict::Refused(reason)] {
            check(Frame::SnapshotReply(SnapshotReply { group, snapshot, verdict }), Stage::Snapshot)?;
        }
    }

    #[test]
    fn joining(
        (secret, folder, least_level, most_level) in any::<([u8; 32], [u8; 16], u32, u32)>(),
        tables in any::<[[u8; 32]; 5]>(),
        [name, zone, release] in ["[!-~]{0,64}", "[!-~]{0,64}", "[!-~]{0,64}"],
        addresses in vec("[!-~]{0,259}", 0..=8),
        [request, certificate] in ["[ -~\n]{0,8192}", "[ -~\r\n]{0,16384}"],
        (node, cluster, is_to_vote) in (node(), any::<[u8; 16]>(), any::<bool>()),
        code in select(JoinCode::ALL.to_vec()),
        (words, leader) in ("[ -~]{0,1024}", "[!-~]{0,259}"),
        many in 0..=63_usize,
    ) {
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let addresses = List::from_slice(&addresses);
        let ask = JoinAsk {
            secret: &secret, folder, least_level, most_level, tables: TableHashes::new(&tables), name: &name, zone: &zone,
            release: &release, addresses, request: &request,
        };
        check(Frame::JoinAsk(ask), Stage::Asking)?;
        let members = vec![JoinMember { node, addresses }; many];
        let welcome = JoinWelcome {
            node, is_to_vote, cluster, cluster_name: &name, certificate: &certificate, authority: &request,
            authority_key: "key", members: List::from_slice(&members),
        };
        check(Frame::JoinWelcome(welcome), Stage::Answered)?;
        check(Frame::JoinRefused(JoinRefused { code: code.value(), words: &words, leader: &leader }), Stage::Answered)?;
    }

    #[test]
    fn told(
        (wall_ms, said_at_us) in (number(), 1..=NUMBER_MAX),
        (free_bytes, room) in (prop_oneof![Just(None), number().prop_map(Some)], select(DiskRoom::ALL.to_vec())),
        answers in prop_oneof![Just(None), (1..=NUMBER_MAX, number()).prop_map(Some)],
    ) {
        let answers = answers.map(|(said_at_us, held_us)| Answered { said_at_us, held_us });
        check(Frame::Told(Told { wall_ms, free_bytes, room, said_at_us, answers }), Stage::Raft)?;
    }

    #[test]
    fn runs_of_records(owned in records(), numbers in vec((number(), number()), 20)) {
        let records: Vec<_> = owned.iter().map(|(numbers, body)| record(body, *numbers)).collect();
        let mut out = vec![];
        let len = write_records(&List::from_slice(&records), &mut out);
        prop_assert_eq!(len, Ok(out.len() as u32));
        prop_assert_eq!(read_records(&out), Ok(List::from_slice(&records)));
        let kept: Vec<_> =
            records.iter().zip(numbers).map(|(&record, (sequence, term))| KeptRecord { sequence, term, record }).collect();
        out.clear();
        let len = write_kept_records(&List::from_slice(&kept), MAX, &mut out);
        prop_assert_eq!(len, Ok(out.len()));
        prop_assert_eq!(read_kept_records(&out), Ok(List::from_slice(&kept)));
    }
}
