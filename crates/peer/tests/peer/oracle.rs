//! What must hold for any bytes between nodes; the fuzz target `peer_frames` asks it too.

use lapwing_oracle::allocations::count;
use lapwing_peer::bounds::{BATCH_BYTES_MAX, FRAME_BYTES_MIN, HELLO_BYTES_MAX};
use lapwing_peer::{
    BatchHead, BatchIntake, BatchPart, Content, EntryHeader, Fault, Frame, GroupNumber, HEADER_BYTES, Hello, JoinAsk,
    JoinMember, JoinRefused, JoinWelcome, Known, Levels, Link, List, Message, MessageKind, NodeId, Parsed, Raft,
    Record, Refused, SnapshotBegin, SnapshotChunk, SnapshotEnd, SnapshotIntake, SnapshotLimits, SnapshotProgress,
    SnapshotRefusal, SnapshotReply, Stage, TableHashes, Verdict, Versions, judge, parse, write_records,
};

/// What came of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Frames that were read.
    pub frames: usize,
    /// Whether the last thing was a fault.
    pub is_fault: bool,
    /// Batches that were whole.
    pub batches: usize,
    /// Snapshots that were whole.
    pub snapshots: usize,
}

const FRAME_BYTES_MAX: usize = 600;
const STAGES: [Stage; 5] = [Stage::Hello, Stage::Raft, Stage::Snapshot, Stage::Asking, Stage::Answered];
/// Memory for a byte of the window: what names a batch that is smaller than its name.
const BYTES_PER_BYTE: usize = 8;
const SNAPSHOTS: SnapshotLimits = SnapshotLimits { bytes_max: 1 << 20, chunks_max: 16 };

/// Reads `input` as what comes on one connection: the first byte says at which stage it is, and how wide the window is.
pub fn check_frames(input: &[u8]) -> Outcome {
    let Some((&choice, mut bytes)) = input.split_first() else { return Outcome::default() };
    let stage = STAGES[usize::from(choice) % STAGES.len()];
    let mut connection = Connection::new(u64::from(choice) * 8);
    let mut outcome = Outcome::default();
    loop {
        let (parsed, used) = count(|| parse(bytes, stage, FRAME_BYTES_MAX));
        assert_eq!(used.calls, 0, "parsing allocates");
        let heard = match parsed {
            Ok(Parsed::Need(more)) => {
                check_need(bytes, more, stage);
                return connection.count(outcome);
            }
            Ok(Parsed::Frame(frame, len)) => {
                check_frame(frame, &bytes[..len], stage);
                bytes = &bytes[len..];
                outcome.frames += 1;
                connection.hear(frame)
            }
            Err(fault) => Err(fault),
        };
        if let Err(fault) = heard {
            assert!(!fault.what.is_empty() && fault.at <= FRAME_BYTES_MAX + HEADER_BYTES, "{fault}");
            return connection.count(Outcome { is_fault: true, ..outcome });
        }
    }
}

/// What is missing is no more than a frame may have.
fn check_need(bytes: &[u8], more: usize, stage: Stage) {
    let max = if stage == Stage::Hello { HELLO_BYTES_MAX.min(FRAME_BYTES_MAX) } else { FRAME_BYTES_MAX };
    assert!(more > 0 && bytes.len() + more <= max + HEADER_BYTES, "{} and {more}", bytes.len());
}

/// A frame is its only encoding, and no part of it is anything.
fn check_frame(frame: Frame<'_>, bytes: &[u8], stage: Stage) {
    let mut again = vec![];
    let len = frame.encode(FRAME_BYTES_MAX, &mut again).expect("what was read can be written");
    assert_eq!((len, parse(&again, stage, FRAME_BYTES_MAX)), (again.len(), Ok(Parsed::Frame(frame, len))));
    // Of a newer version there may be more, which is left out.
    assert!(again == bytes || (frame.kind().is_read_in_any_version() && bytes[5] > 1), "there is one encoding of each");
    for cut in [0, 1, HEADER_BYTES - 1, HEADER_BYTES, bytes.len() / 2, bytes.len() - 1] {
        let parsed = parse(&bytes[..cut.min(bytes.len() - 1)], stage, FRAME_BYTES_MAX);
        assert!(matches!(parsed, Ok(Parsed::Need(_))), "{cut} bytes of {frame:?}: {parsed:?}");
    }
}

/// Whoever hears it all.
struct Connection {
    window_bytes: u64,
    batches: BatchIntake,
    taken: Vec<BatchHead>,
    snapshot: Option<(SnapshotIntake, Vec<u8>)>,
    whole_batches: usize,
    whole_snapshots: usize,
}

impl Connection {
    fn new(window_bytes: u64) -> Self {
        let batches = BatchIntake::new(window_bytes);
        Connection { window_bytes, batches, taken: vec![], snapshot: None, whole_batches: 0, whole_snapshots: 0 }
    }

    fn count(&self, outcome: Outcome) -> Outcome {
        Outcome { batches: self.whole_batches, snapshots: self.whole_snapshots, ..outcome }
    }

    fn hear(&mut self, frame: Frame<'_>) -> Result<(), Fault> {
        match frame {
            Frame::Hello(hello) => check_judgement(&hello),
            Frame::Refused(refused) => assert!(refused.words.bytes().all(|byte| (b' '..=b'~').contains(&byte))),
            Frame::BatchPart(part) => self.part(&part)?,
            Frame::Raft(raft) => self.raft(&raft)?,
            Frame::SnapshotBegin(begin) => self.begin(&begin),
            Frame::SnapshotChunk(chunk) => self.chunk(&chunk)?,
            Frame::SnapshotEnd(end) => self.end(&end)?,
            Frame::SnapshotReply(_) => {}
            Frame::JoinAsk(ask) => {
                assert!(ask.addresses.iter().all(|address| address.is_ascii()) && ask.request.is_ascii())
            }
            Frame::JoinWelcome(welcome) => {
                assert!(welcome.members.iter().all(|member| member.addresses.iter().all(|address| address.is_ascii())));
            }
            Frame::JoinRefused(refused) => assert!(!refused.leader.contains(' ')),
        }
        Ok(())
    }

    /// Memory is held for what was sent, within the window.
    fn part(&mut self, part: &BatchPart<'_>) -> Result<(), Fault> {
        let before = self.batches.under_way_bytes();
        let (heard, used) = count(|| self.batches.part(part));
        assert!(
            used.peak_bytes <= BYTES_PER_BYTE * (part.bytes.len() + 64) + 2 * self.batches.under_way_bytes() as usize
        );
        let after = self.batches.under_way_bytes();
        assert!(heard.is_ok() || after == before, "a part that is refused changes nothing");
        assert!(after == before || before == 0 || after <= self.window_bytes, "{after} of {}", self.window_bytes);
        heard
    }

    /// One turn: what the messages name is taken out, in order, and then written.
    fn raft(&mut self, raft: &Raft<'_>) -> Result<(), Fault> {
        for message in raft.messages.iter() {
            let mut index = message.index;
            for entry in message.entries.iter() {
                index += 1;
                assert!(entry.raft_index == index && entry.term <= message.term);
                self.entry(message.group, &entry)?;
            }
            assert!(message.entries.is_empty() || message.kind == MessageKind::Append);
        }
        self.taken.drain(..).for_each(|head| self.batches.finish(head));
        Ok(())
    }

    fn entry(&mut self, group: GroupNumber, entry: &EntryHeader<'_>) -> Result<(), Fault> {
        let Content::Batch(head) = entry.content else { return Ok(()) };
        assert!(head.bytes <= BATCH_BYTES_MAX && head.count > 0);
        let batch = self.batches.take(group, entry.term, entry.raft_index, head)?;
        assert_eq!(batch.records().iter().count(), head.count as usize);
        let mut again = vec![];
        assert_eq!(write_records(&batch.records(), &mut again), Ok(head.bytes));
        assert_eq!(again, batch.bytes(), "there is one encoding of records");
        self.taken.push(head);
        self.whole_batches += 1;
        Ok(())
    }

    /// A snapshot of the same number goes on where it was.
    fn begin(&mut self, begin: &SnapshotBegin<'_>) {
        let before: Option<SnapshotProgress> = self.snapshot.as_ref().map(|(intake, _)| intake.progress());
        match SnapshotIntake::begin(begin, SNAPSHOTS, before) {
            Ok(intake) => {
                let kept = self.snapshot.take().filter(|_| intake.next_chunk() > 0).map(|(_, bytes)| bytes);
                self.snapshot = Some((intake, kept.unwrap_or_default()));
            }
            Err(refusal) => assert_eq!(refusal, SnapshotRefusal::TooLarge),
        }
    }

    fn chunk(&mut self, chunk: &SnapshotChunk<'_>) -> Result<(), Fault> {
        let Some((intake, bytes)) = &mut self.snapshot else { return Ok(()) };
        let before = *intake;
        let heard = intake.chunk(chunk);
        match heard {
            Ok(()) => bytes.extend_from_slice(chunk.bytes),
            Err(_) => assert_eq!(*intake, before, "a chunk that is refused is not counted"),
        }
        let progress = intake.progress();
        assert_eq!((progress.bytes, progress.crc), (bytes.len() as u64, crc32c::crc32c(bytes)));
        assert!(progress.bytes <= SNAPSHOTS.bytes_max && progress.next_chunk <= SNAPSHOTS.chunks_max);
        heard
    }

    fn end(&mut self, end: &SnapshotEnd) -> Result<(), Fault> {
        let Some((intake, bytes)) = &self.snapshot else { return Ok(()) };
        intake.end(end)?;
        assert_eq!((end.chunks, end.crc), (intake.next_chunk(), crc32c::crc32c(bytes)));
        self.whole_snapshots += 1;
        Ok(())
    }
}

/// Both sides come to the same, where neither knows more than the hellos say.
fn check_judgement(theirs: &Hello<'_>) {
    let mine = hello();
    let (here, there) = (judge(&mine, theirs, None), judge(theirs, &mine, None));
    assert_eq!(here, there.map_err(|_| here.expect_err("one refuses, the other does not")));
    if let Ok(agreed) = here {
        assert!((mine.versions.oldest()..=mine.versions.newest()).contains(&agreed.version));
        assert!((theirs.versions.oldest()..=theirs.versions.newest()).contains(&agreed.version));
        assert!(mine.tables == theirs.tables && mine.cluster == theirs.cluster && mine.node != theirs.node);
    }
    assert!(judge(theirs, theirs, None).is_err(), "nobody speaks to itself");
    let known = Known { folder: theirs.folder, boot: theirs.boot, start: Some(theirs.start) };
    assert_eq!(judge(&mine, theirs, Some(&known)), here, "who is known as what it says");
}

/// A node that others are judged by.
fn hello() -> Hello<'static> {
    Hello {
        versions: Versions::new(1, 2).expect("in order"),
        link: Link::Raft,
        node: NodeId::new(1).expect("not 0"),
        cluster: [0xC1; 16],
        folder: [0xF0; 16],
        boot: 2,
        start: 3,
        levels: Levels::new(1, 2).expect("in order"),
        frame_bytes_max: FRAME_BYTES_MIN as u32,
        window_bytes: 1000,
        tables: TableHashes::new(&[[0; 32]; 5]),
        software: "lapwing/0.1",
        addresses: List::from_slice(&["n1:1890"]),
    }
}

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
    let frames = [all, whole, begun, raft(&heartbeat), ended, whole, raft(&every[..8])];
    [1, 31, 251].into_iter().map(|choice| connection(choice, &frames)).collect()
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
