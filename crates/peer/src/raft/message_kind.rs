//! What a message of a Raft engine is.

use crate::wire::{Input, Pack};
use crate::{EncodeError, Fault};

/// The messages that go from node to node; the value is the byte on the wire, for ever. What an engine tells itself (its
/// clock, what it is to propose, who cannot be reached) is none of them, and a snapshot has frames of its own.
/// `TransferLeader` asks a leader to hand the group over to the sender, `TimeoutNow` has the receiver campaign at once.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are Raft's")]
pub enum MessageKind {
    Append = 1,
    AppendResponse = 2,
    RequestVote = 3,
    RequestVoteResponse = 4,
    RequestPreVote = 5,
    RequestPreVoteResponse = 6,
    Heartbeat = 7,
    HeartbeatResponse = 8,
    TransferLeader = 9,
    TimeoutNow = 10,
}

impl MessageKind {
    /// Every kind, in the order of their values, which begin with 1.
    pub const ALL: [MessageKind; 10] = [
        MessageKind::Append,
        MessageKind::AppendResponse,
        MessageKind::RequestVote,
        MessageKind::RequestVoteResponse,
        MessageKind::RequestPreVote,
        MessageKind::RequestPreVoteResponse,
        MessageKind::Heartbeat,
        MessageKind::HeartbeatResponse,
        MessageKind::TransferLeader,
        MessageKind::TimeoutNow,
    ];
}

impl Pack<'_> for MessageKind {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.push(*self as u8);
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let here = *input;
        let value = input.u8("the kind of a message")?;
        let kind = usize::from(value).checked_sub(1).and_then(|index| Self::ALL.get(index).copied());
        kind.ok_or(here.malformed("a kind of message that there is not").with(value.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_maps_to_itself() {
        let kinds = |value: u8| MessageKind::take(&mut Input::new(&[value], 0)).ok();
        assert_eq!((0..=255).filter_map(kinds).collect::<Vec<_>>(), MessageKind::ALL);
        assert!(MessageKind::ALL.into_iter().enumerate().all(|(index, kind)| kind as usize == index + 1));
    }
}
