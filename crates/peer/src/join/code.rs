//! Why somebody does not join, as a number.

/// The reason; the value is the byte on the wire, for ever.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinCode {
    /// Nobody has made the token here, or somebody has used it.
    UnknownToken = 1,
    /// It was good once.
    OldToken = 2,
    /// A table of the configuration is another one.
    TablesDiffer = 3,
    /// Another node is called so.
    NameTaken = 4,
    /// The folder is, or was, a member's.
    FolderTaken = 5,
    /// The cluster has had all nodes that it can have.
    Full = 6,
    /// The program does not read what the cluster writes.
    Level = 7,
    /// Something that was said is out of its bounds, or the request is none.
    Malformed = 8,
    /// Another node leads: its address is there.
    NotLeader = 9,
    /// Nobody leads at the moment, or nobody can say: ask again.
    Again = 10,
    /// The authority is somebody's own, who issues certificates.
    NoAuthority = 11,
}

impl JoinCode {
    /// Every reason, in the order of their values, which begin with 1.
    pub const ALL: [JoinCode; 11] = [
        JoinCode::UnknownToken,
        JoinCode::OldToken,
        JoinCode::TablesDiffer,
        JoinCode::NameTaken,
        JoinCode::FolderTaken,
        JoinCode::Full,
        JoinCode::Level,
        JoinCode::Malformed,
        JoinCode::NotLeader,
        JoinCode::Again,
        JoinCode::NoAuthority,
    ];

    /// The reason with this value; `None`: a newer node's.
    pub fn from_u8(value: u8) -> Option<Self> {
        Self::ALL.get(usize::from(value).checked_sub(1)?).copied()
    }

    /// The byte on the wire.
    pub const fn value(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_maps_to_itself() {
        assert_eq!((0..=255).filter_map(JoinCode::from_u8).count(), JoinCode::ALL.len());
        assert!(JoinCode::ALL.into_iter().all(|code| JoinCode::from_u8(code.value()) == Some(code)));
    }
}
