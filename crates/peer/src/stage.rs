//! How far a connection has come.

use crate::Link;
use crate::bounds::{HELLO_BYTES_MAX, JOIN_ANSWER_BYTES_MAX, JOIN_ASK_BYTES_MAX};

/// What may come on a connection now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing has come yet: a hello, or a refusal. Frames are small, whatever the caller allows.
    Hello,
    /// Both hellos were judged, on the connection of the Raft groups.
    Raft,
    /// The same on the connection of snapshots.
    Snapshot,
    /// Somebody has come to join, and asks.
    Asking,
    /// This program has asked to join, and is answered.
    Answered,
}

impl Stage {
    /// The stage behind the hellos.
    pub const fn of(link: Link) -> Self {
        match link {
            Link::Raft => Stage::Raft,
            Link::Snapshot => Stage::Snapshot,
        }
    }

    /// Bytes behind the header that a frame may have, where the caller allows `frame_bytes_max`.
    pub(crate) fn body_bytes_max(self, frame_bytes_max: usize) -> usize {
        match self {
            Stage::Hello => HELLO_BYTES_MAX.min(frame_bytes_max),
            Stage::Raft | Stage::Snapshot => frame_bytes_max,
            Stage::Asking => JOIN_ASK_BYTES_MAX.min(frame_bytes_max),
            Stage::Answered => JOIN_ANSWER_BYTES_MAX.min(frame_bytes_max),
        }
    }
}
