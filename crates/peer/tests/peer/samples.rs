//! One frame of each kind, with everything in it. They are those whose bytes `formats` has.

use lapwing_peer::{
    Answered, BatchHead, BatchPart, Content, DiskRoom, EntryHeader, GroupNumber, Hello, JoinAsk, JoinMember,
    JoinRefused, JoinWelcome, Levels, Link, List, Message, MessageKind, NodeId, Raft, Refused, SnapshotBegin,
    SnapshotChunk, SnapshotEnd, SnapshotReply, TableHashes, Told, Verdict, Versions,
};

pub const GROUP: GroupNumber = GroupNumber::new(3).unwrap();
pub const NODE: NodeId = NodeId::new(7).unwrap();

pub const HELLO: Hello<'static> = Hello {
    versions: Versions::new(1, 3).unwrap(),
    link: Link::Raft,
    node: NODE,
    cluster: [0xC1; 16],
    folder: [0xF0; 16],
    boot: 5,
    start: 0x0102_0304_0506_0708,
    levels: Levels::new(1, 2).unwrap(),
    frame_bytes_max: 1 << 20,
    window_bytes: 64 << 20,
    tables: TableHashes::new(&[[0xA0; 32], [0xA1; 32], [0xA2; 32], [0xA3; 32], [0xA4; 32]]),
    software: "lapwing/0.1",
    addresses: List::from_slice(&["n7.example:1890", "[::1]:1890"]),
};

pub const REFUSED: Refused<'static> = Refused { code: 4, words: "Remove node 7" };

pub const PART: BatchPart<'static> =
    BatchPart { group: GROUP, term: 2, raft_index: 9, total_bytes: 30, first_byte: 26, bytes: b"body" };

pub const ENTRIES: [EntryHeader<'static>; 3] = [
    EntryHeader { term: 2, raft_index: 8, content: Content::Blank },
    EntryHeader {
        term: 3,
        raft_index: 9,
        content: Content::Batch(BatchHead { first_sequence: 100, count: 2, bytes: 48 }),
    },
    EntryHeader { term: 3, raft_index: 10, content: Content::Membership(b"1,2,3") },
];

/// A message with nothing in it.
pub const HEARTBEAT: Message<'static> = Message {
    group: GroupNumber::METADATA,
    kind: MessageKind::Heartbeat,
    from: NODE,
    to: NodeId::new(1).unwrap(),
    term: 3,
    log_term: 0,
    index: 0,
    commit: 7,
    commit_term: 0,
    reject: false,
    reject_hint: 0,
    transfer: false,
    context: None,
    entries: List::EMPTY,
};

pub const APPEND: Message<'static> = Message {
    group: GROUP,
    kind: MessageKind::Append,
    log_term: 1,
    index: 7,
    entries: List::from_slice(&ENTRIES),
    ..HEARTBEAT
};

pub const ANSWER: Message<'static> = Message {
    kind: MessageKind::AppendResponse,
    reject: true,
    reject_hint: 6,
    commit_term: 2,
    transfer: true,
    context: Some(u64::MAX),
    ..HEARTBEAT
};

pub const RAFT: Raft<'static> = Raft { done_bytes: 258, messages: List::from_slice(&[APPEND, ANSWER]) };

pub const BEGIN: SnapshotBegin<'static> = SnapshotBegin {
    group: GROUP,
    snapshot: 0xABCD,
    leader_term: 4,
    raft_index: 1000,
    term: 3,
    last_sequence: 5000,
    state_chunks: 2,
    entries: 70,
    bytes: 4096,
    membership: b"1,2,3",
};

pub const CHUNK: SnapshotChunk<'static> = SnapshotChunk { number: 258, bytes: b"chunk" };

pub const END: SnapshotEnd = SnapshotEnd { chunks: 259, crc: 0xDEAD_BEEF };

pub const REPLY: SnapshotReply = SnapshotReply { group: GROUP, snapshot: 0xABCD, verdict: Verdict::From(258) };

pub const ASK: JoinAsk<'static> = JoinAsk {
    secret: &[0x5E; 32],
    folder: [0xF0; 16],
    least_level: 1,
    most_level: 2,
    tables: HELLO.tables,
    name: "east",
    zone: "",
    release: "lapwing/0.1",
    addresses: List::from_slice(&["n8:1890"]),
    request: "BEGIN\nrequest\n",
};

pub const WELCOME: JoinWelcome<'static> = JoinWelcome {
    node: NODE,
    is_to_vote: true,
    cluster: [0xC1; 16],
    cluster_name: "marsh",
    certificate: "mine\n",
    authority: "ours\n",
    authority_key: "key\n",
    members: List::from_slice(&[JoinMember {
        node: NodeId::new(1).unwrap(),
        addresses: List::from_slice(&["n1:1890", "[::1]:1890"]),
    }]),
};

pub const TOLD: Told = Told {
    wall_ms: 0x0102_0304_0506,
    free_bytes: Some(5 << 30),
    room: DiskRoom::Low,
    said_at_us: 258,
    answers: Some(Answered { said_at_us: 259, held_us: 3 }),
};

pub const JOIN_REFUSED: JoinRefused<'static> = JoinRefused { code: 9, words: "node 1 leads", leader: "n1:1890" };
