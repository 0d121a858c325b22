//! The frame: one variant per kind.

use crate::header::{self, FRAME_VERSION, HEADER_BYTES, Header};
use crate::wire::{Input, Pack, check_len};
use crate::{
    BatchPart, EncodeError, Fault, Hello, JoinAsk, JoinRefused, JoinWelcome, Kind, Raft, Refused, SnapshotBegin,
    SnapshotChunk, SnapshotEnd, SnapshotReply, Stage, Told,
};

/// A frame between two nodes, borrowing from the bytes it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are documented on their types")]
pub enum Frame<'a> {
    Hello(Hello<'a>),
    Refused(Refused<'a>),
    BatchPart(BatchPart<'a>),
    Raft(Raft<'a>),
    SnapshotBegin(SnapshotBegin<'a>),
    SnapshotChunk(SnapshotChunk<'a>),
    SnapshotEnd(SnapshotEnd),
    SnapshotReply(SnapshotReply),
    JoinAsk(JoinAsk<'a>),
    JoinWelcome(JoinWelcome<'a>),
    JoinRefused(JoinRefused<'a>),
    Told(Told),
}

/// What the bytes that have come are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed<'a> {
    /// The frame is not whole: so many bytes are missing at least. What its header says was judged, so a buffer may be made
    /// for that many.
    Need(usize),
    /// A frame, and how many bytes it is: the next one begins behind them.
    Frame(Frame<'a>, usize),
}

/// Reads the frame that `bytes` begins with.
///
/// `frame_bytes_max`: the most bytes that may be behind a frame's header; at the stage of hellos
/// [`HELLO_BYTES_MAX`](crate::bounds::HELLO_BYTES_MAX), and while somebody joins what is in [`bounds`](crate::bounds), if that is less.
/// # Errors
/// They are no frame, or one that may not come at this stage: cut the connection, count it under its
/// [`FaultKind`](crate::FaultKind).
pub fn parse(bytes: &[u8], stage: Stage, frame_bytes_max: usize) -> Result<Parsed<'_>, Fault> {
    if bytes.len() < HEADER_BYTES {
        return Ok(Parsed::Need(HEADER_BYTES - bytes.len()));
    }
    let header = Header::read(bytes, stage, frame_bytes_max)?;
    let whole = HEADER_BYTES + header.body_bytes;
    match bytes.get(..whole) {
        Some(frame) => Ok(Parsed::Frame(Frame::read(&header, frame)?, whole)),
        None => Ok(Parsed::Need(whole - bytes.len())),
    }
}

impl<'a> Frame<'a> {
    /// Reads what is behind the header of a whole frame.
    fn read(header: &Header, frame: &'a [u8]) -> Result<Self, Fault> {
        let mut input = Input::new(frame, HEADER_BYTES);
        let read = match header.kind {
            Kind::Hello => Frame::Hello(Hello::take(&mut input)?),
            Kind::Refused => Frame::Refused(Refused::take(&mut input)?),
            Kind::BatchPart => Frame::BatchPart(BatchPart::take(&mut input)?),
            Kind::Raft => Frame::Raft(Raft::take(&mut input)?),
            Kind::SnapshotBegin => Frame::SnapshotBegin(SnapshotBegin::take(&mut input)?),
            Kind::SnapshotChunk => Frame::SnapshotChunk(SnapshotChunk::take(&mut input)?),
            Kind::SnapshotEnd => Frame::SnapshotEnd(SnapshotEnd::take(&mut input)?),
            Kind::SnapshotReply => Frame::SnapshotReply(SnapshotReply::take(&mut input)?),
            Kind::JoinAsk => Frame::JoinAsk(JoinAsk::take(&mut input)?),
            Kind::JoinWelcome => Frame::JoinWelcome(JoinWelcome::take(&mut input)?),
            Kind::JoinRefused => Frame::JoinRefused(JoinRefused::take(&mut input)?),
            Kind::Told => Frame::Told(Told::take(&mut input)?),
        };
        // A newer node has more to say.
        if header.version == FRAME_VERSION {
            input.end()?;
        }
        Ok(read)
    }

    /// Appends the frame to `out`. Returns its length in bytes.
    ///
    /// `frame_bytes_max`: the most bytes that may be behind its header, which is what the other node's hello says.
    /// # Errors
    /// See [`EncodeError`]: the other node would refuse it. `out` is as it was.
    pub fn encode(&self, frame_bytes_max: usize, out: &mut Vec<u8>) -> Result<usize, EncodeError> {
        let start = out.len();
        Header::open(self.kind(), out);
        let put = self.put_body(out).and_then(|()| {
            let max = frame_bytes_max.min(u32::MAX as usize);
            check_len(out.len() - start - HEADER_BYTES, max, "bytes of a frame")
        });
        match put {
            Ok(()) => header::close(start, out),
            Err(_) => out.truncate(start),
        }
        put.map(|()| out.len() - start)
    }

    fn put_body(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Frame::Hello(frame) => frame.put(out),
            Frame::Refused(frame) => frame.put(out),
            Frame::BatchPart(frame) => frame.put(out),
            Frame::Raft(frame) => frame.put(out),
            Frame::SnapshotBegin(frame) => frame.put(out),
            Frame::SnapshotChunk(frame) => frame.put(out),
            Frame::SnapshotEnd(frame) => frame.put(out),
            Frame::SnapshotReply(frame) => frame.put(out),
            Frame::JoinAsk(frame) => frame.put(out),
            Frame::JoinWelcome(frame) => frame.put(out),
            Frame::JoinRefused(frame) => frame.put(out),
            Frame::Told(frame) => frame.put(out),
        }
    }

    /// Which frame it is.
    pub const fn kind(&self) -> Kind {
        match self {
            Frame::Hello(_) => Kind::Hello,
            Frame::Refused(_) => Kind::Refused,
            Frame::BatchPart(_) => Kind::BatchPart,
            Frame::Raft(_) => Kind::Raft,
            Frame::SnapshotBegin(_) => Kind::SnapshotBegin,
            Frame::SnapshotChunk(_) => Kind::SnapshotChunk,
            Frame::SnapshotEnd(_) => Kind::SnapshotEnd,
            Frame::SnapshotReply(_) => Kind::SnapshotReply,
            Frame::JoinAsk(_) => Kind::JoinAsk,
            Frame::JoinWelcome(_) => Kind::JoinWelcome,
            Frame::JoinRefused(_) => Kind::JoinRefused,
            Frame::Told(_) => Kind::Told,
        }
    }
}
