//! The kind of a frame.

use crate::Stage;

/// Which frame it is; the value is the byte on the wire, for ever.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the frames, documented on their types")]
pub enum Kind {
    Hello = 1,
    Refused = 2,
    BatchPart = 3,
    Raft = 4,
    SnapshotBegin = 5,
    SnapshotChunk = 6,
    SnapshotEnd = 7,
    SnapshotReply = 8,
    JoinAsk = 9,
    JoinWelcome = 10,
    JoinRefused = 11,
    Told = 12,
}

impl Kind {
    /// Every kind, in the order of their values, which begin with 1.
    pub const ALL: [Kind; 12] = [
        Kind::Hello,
        Kind::Refused,
        Kind::BatchPart,
        Kind::Raft,
        Kind::SnapshotBegin,
        Kind::SnapshotChunk,
        Kind::SnapshotEnd,
        Kind::SnapshotReply,
        Kind::JoinAsk,
        Kind::JoinWelcome,
        Kind::JoinRefused,
        Kind::Told,
    ];

    /// The kind with this value; `None` when this program has no such frame.
    pub fn from_u8(value: u8) -> Option<Self> {
        Self::ALL.get(usize::from(value).checked_sub(1)?).copied()
    }

    /// The byte on the wire.
    pub const fn value(self) -> u8 {
        self as u8
    }

    /// Whether the frame is read whatever its version: the first fields of what is said before a version is agreed on are the
    /// same for ever, and a newer node puts what it has more behind them.
    pub const fn is_read_in_any_version(self) -> bool {
        matches!(self, Kind::Hello | Kind::Refused | Kind::JoinAsk | Kind::JoinWelcome | Kind::JoinRefused)
    }

    /// Whether it may come at that stage. A refusal may always: a node may be removed while it is connected.
    pub const fn is_at(self, stage: Stage) -> bool {
        match self {
            Kind::Refused => true,
            Kind::Hello => matches!(stage, Stage::Hello),
            Kind::BatchPart | Kind::Raft | Kind::Told => matches!(stage, Stage::Raft),
            Kind::SnapshotBegin | Kind::SnapshotChunk | Kind::SnapshotEnd | Kind::SnapshotReply => {
                matches!(stage, Stage::Snapshot)
            }
            Kind::JoinAsk => matches!(stage, Stage::Asking),
            Kind::JoinWelcome | Kind::JoinRefused => matches!(stage, Stage::Answered),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_maps_to_itself() {
        assert_eq!((0..=255).filter_map(Kind::from_u8).count(), Kind::ALL.len());
        assert!(Kind::ALL.into_iter().all(|kind| Kind::from_u8(kind.value()) == Some(kind)));
    }
}
