//! Connections that are in order, as seeds of the oracle.

use lapwing_peer::{
    Answered, BatchHead, BatchPart, Content, DiskRoom, EntryHeader, Frame, GroupNumber, Hello, JoinAsk, JoinMember,
    JoinRefused, JoinWelcome, Levels, Link, List, Message, MessageKind, NodeId, Raft, Record, Refused, SnapshotBegin,
    SnapshotChunk, SnapshotEnd, SnapshotRefusal, SnapshotReply, TableHashes, Told, Verdict, Versions, write_records,
};

use super::{FRAME_BYTES_MAX, hello};

/// Connections at each stage: hellos, turns with batches in parts, snapshots.
pub fn frames_seeds() -> Vec<Vec<u8>> {
    [hello_seeds(), raft_seeds(), snapshot_seeds(), join_seeds()].concat()
}

/// One connection: `choice` as the oracle reads it, and frames.
fn connection(choice: u8, frames: &[Frame<'_>]) -> Vec<u8> {
    let mut bytes = vec![choice];
    for frame in frames {
        frame.encode(FRAME_BYTES_MAX, &mut bytes).expect("a seed is in order");
    }
    bytes
}

fn hello_seeds() -> Vec<Vec<u8>> {
    let theirs = Hello { node: NodeId::new(2).expect("not 0"), folder: [0xF1; 16], start: 4, ..hello() };
    let differ = TableHashes::new(&[[1; 32]; 5]);
    let hellos = [
        theirs,
        hello(),
        Hello { cluster: [0; 16], ..theirs },
        Hello { versions: Versions::new(3, 4).expect("in order"), ..theirs },
        Hello { levels: Levels::new(3, 3).expect("in order"), ..theirs },
        Hello { tables: differ, link: Link::Snapshot, ..theirs },
    ];
    let refused = Frame::Refused(Refused { code: 3, words: "Remove node 2" });
    hellos.into_iter().map(|hello| connection(0, &[Frame::Hello(hello), refused])).collect()
}

fn raft_seeds() -> Vec<Vec<u8>> {
    let group = GroupNumber::new(3).expect("a data group");
    let records = [&b"one"[..], b"", b"three"].map(|body| Record { slot: 7, message_id: 8, appended_at_us: 9, body });
    let mut run = vec![];
    let bytes = write_records(&List::from_slice(&records), &mut run).expect("it is small");
    let part = |from: usize, to: usize| {
        let bytes = &run[from..to];
        BatchPart { group, term: 2, raft_index: 6, total_bytes: run.len() as u32, first_byte: from as u32, bytes }
    };
    let head = BatchHead { first_sequence: 40, count: 3, bytes };
    let contents = [Content::Blank, Content::Batch(head), Content::Membership(b"1,2,3")];
    let entries = [0, 1, 2].map(|n| EntryHeader { term: 2, raft_index: 5 + n, content: contents[n as usize] });
    let (from, to) = (NodeId::new(1).expect("not 0"), NodeId::new(2).expect("not 0"));
    let message = |kind| Message {
        group,
        kind,
        from,
        to,
        term: 2,
        log_term: 2,
        index: 4,
        commit: 4,
        commit_term: 2,
        reject: false,
        reject_hint: 0,
        transfer: false,
        context: Some(11),
        entries: List::EMPTY,
    };
    let append = Message { entries: List::from_slice(&entries), ..message(MessageKind::Append) };
    let every = MessageKind::ALL.map(message);
    let raft = |messages| Frame::Raft(Raft { done_bytes: 5, messages: List::from_slice(messages) });
    let [all, begun, ended] = [part(0, run.len()), part(0, 30), part(30, run.len())].map(Frame::BatchPart);
    let whole = raft(std::slice::from_ref(&append));
    let heartbeat = [message(MessageKind::Heartbeat)];
    let frames = [all, whole, begun, raft(&heartbeat), told(None), ended, whole, raft(&every[..8]), told(Some(9))];
    [1, 31, 251].into_iter().map(|choice| connection(choice, &frames)).collect()
}

/// A node's word on itself, that answers what was said at that time.
fn told(answered_us: Option<u64>) -> Frame<'static> {
    let answers = answered_us.map(|said_at_us| Answered { said_at_us, held_us: 10 });
    let free_bytes = answered_us.map(|_| 1 << 30);
    Frame::Told(Told { wall_ms: 7, free_bytes, room: DiskRoom::Enough, said_at_us: 8, answers })
}

fn join_seeds() -> Vec<Vec<u8>> {
    let ask = JoinAsk {
        secret: &[7; 32],
        folder: [8; 16],
        least_level: 1,
        most_level: 2,
        tables: hello().tables,
        name: "east",
        zone: "z1",
        release: "lapwing",
        addresses: List::from_slice(&["n2:1890", "[::1]:1890"]),
        request: "-----BEGIN\nAAAA\n",
    };
    let members = [1, 3]
        .map(|node| JoinMember { node: NodeId::new(node).expect("not 0"), addresses: List::from_slice(&["n1:1890"]) });
    let welcome = JoinWelcome {
        node: NodeId::new(2).expect("not 0"),
        is_to_vote: true,
        cluster: [0xC1; 16],
        cluster_name: "marsh",
        certificate: "a\n",
        authority: "b\n",
        authority_key: "c\n",
        members: List::from_slice(&members),
    };
    let refused = Frame::JoinRefused(JoinRefused { code: 9, words: "node 1 leads", leader: "n1:1890" });
    vec![
        connection(3, &[Frame::JoinAsk(ask), Frame::JoinAsk(JoinAsk { zone: "", ..ask })]),
        connection(4, &[Frame::JoinWelcome(welcome), refused]),
    ]
}

fn snapshot_seeds() -> Vec<Vec<u8>> {
    let group = GroupNumber::METADATA;
    let begin = |bytes| SnapshotBegin {
        group,
        snapshot: 5,
        leader_term: 4,
        raft_index: 100,
        term: 3,
        last_sequence: 500,
        state_chunks: 1,
        entries: 1,
        bytes,
        membership: b"1,2,3",
    };
    let chunk = |number| Frame::SnapshotChunk(SnapshotChunk { number, bytes: b"chunk" });
    let end = Frame::SnapshotEnd(SnapshotEnd { chunks: 2, crc: crc32c::crc32c(b"chunkchunk") });
    let reply = |verdict| Frame::SnapshotReply(SnapshotReply { group, snapshot: 5, verdict });
    let refusals = SnapshotRefusal::ALL.map(|reason| reply(Verdict::Refused(reason)));
    let begun = Frame::SnapshotBegin(begin(10));
    vec![
        connection(2, &[begun, chunk(0), chunk(1), end]),
        connection(2, &[begun, chunk(0), begun, chunk(1), end, chunk(2)]),
        connection(2, &[begun, chunk(0), Frame::SnapshotBegin(begin(1 << 40)), chunk(2)]),
        connection(2, &[&[reply(Verdict::From(1)), reply(Verdict::Accepted)][..], &refusals].concat()),
    ]
}
