//! The messages of one turn, of all groups, to one node.
//!
//! ```text
//! 0 done bytes u64   8 messages: count u16, each as in `message`
//! ```
//!
//! A frame is a turn: whoever reads it hands all its messages to their engines, appends what they name, of every group, with
//! one write and one sync, and answers with one frame. So a frame has many messages, and not the batches themselves: those
//! came before, in parts ([`BatchPart`](crate::BatchPart)). A batch is encoded once and goes to all followers as it is, while
//! each follower has messages of its own; and between two parts of a large batch there is room for a heartbeat.

mod entry;
mod message;
mod message_kind;

pub use entry::{BatchHead, Content, EntryHeader};
pub use message::Message;
pub use message_kind::MessageKind;

use crate::bounds::MESSAGES_MAX;
use crate::wire::{Input, List, Pack};
use crate::{EncodeError, Fault};

/// What the engines of one node have to say to those of another in one turn; without messages it tells of room only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raft<'a> {
    /// How much of what the other node has sent in batches, in all since the connection began, is done with here: written,
    /// or not wanted. See [`Window::done`](crate::Window::done).
    pub done_bytes: u64,
    /// The messages, in the order in which they are to be handled.
    pub messages: List<'a, Message<'a>>,
}

/// Bytes of a frame's body without messages.
const HEAD_BYTES: usize = 10;

impl Raft<'_> {
    /// How many of the first `messages` go into one frame whose body has at most `frame_bytes_max` bytes: a turn that is too
    /// large for one goes in several. 0 where not even the first does, which no bound of [`FRAME_BYTES_MIN`] and more does to a
    /// message that names batches.
    ///
    /// [`FRAME_BYTES_MIN`]: crate::bounds::FRAME_BYTES_MIN
    pub fn fitting(messages: &[Message<'_>], frame_bytes_max: usize) -> usize {
        let mut bytes = HEAD_BYTES;
        let fits = |message: &&Message<'_>| {
            bytes += message.encoded_bytes();
            bytes <= frame_bytes_max
        };
        messages.iter().take(MESSAGES_MAX).take_while(fits).count()
    }
}

impl<'a> Pack<'a> for Raft<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.done_bytes.to_le_bytes());
        self.messages.put(MESSAGES_MAX, "messages of a frame", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        Ok(Raft {
            done_bytes: input.u64("what is done")?,
            messages: List::take(input, MESSAGES_MAX, "messages of a frame")?,
        })
    }
}
