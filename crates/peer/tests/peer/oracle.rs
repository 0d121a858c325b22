//! What must hold for any bytes between nodes; the fuzz target `peer_frames` asks it too.

use lapwing_oracle::allocations::count;
use lapwing_peer::bounds::{BATCH_BYTES_MAX, FRAME_BYTES_MIN, HELLO_BYTES_MAX, NUMBER_MAX};
use lapwing_peer::{
    BatchHead, BatchIntake, BatchPart, Content, EntryHeader, Fault, Frame, GroupNumber, HEADER_BYTES, Hello, Known,
    Levels, Link, List, MessageKind, NodeId, Parsed, Raft, SnapshotBegin, SnapshotChunk, SnapshotEnd, SnapshotIntake,
    SnapshotLimits, SnapshotProgress, SnapshotRefusal, Stage, TableHashes, Versions, judge, parse, write_records,
};

/// By its path: the fuzz target has this file by one, too.
#[path = "seeds.rs"]
mod seeds;

pub use seeds::frames_seeds;

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
            Frame::Told(told) => {
                assert!(told.said_at_us > 0 && told.free_bytes.is_none_or(|bytes| bytes <= NUMBER_MAX))
            }
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
