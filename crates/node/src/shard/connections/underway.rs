//! What is under way on a connection beside whole packets, one thing at a time: its packet in hand, or its end.

use crate::shard::connect::delayed::Delayed;
use crate::shard::connections::connection::Connection;
use crate::shard::connections::skipping::Skipping;
use crate::shard::publish::room::RoomAnswer;
use crate::shard::subscribe::parts::Parts;

/// Each ends before the next begins, but for the end of the connection, with which every other is over. Hardly a connection has any.
#[derive(Debug, Default)]
pub(in crate::shard) enum Underway {
    #[default]
    Nothing,
    /// Whether the message at the beginning of its input has room: asked, or known.
    Room(RoomAnswer),
    /// Of the packet at the beginning of its input so much is done.
    Parts(Box<Parts>),
    /// A packet that is too large, of which the rest is thrown away.
    Skipping(Box<Skipping>),
    /// Its refusal, while that waits; over but for that.
    Delayed(Box<Delayed>),
    /// Ended, and read on until the peer ends too: so many bytes at most.
    Lingering { bytes_left: u32 },
}

impl Connection {
    /// Whether it is known, or asked, if its next message has room.
    pub(in crate::shard) const fn knows_room(&self) -> bool {
        matches!(self.underway, Underway::Room(_))
    }

    /// What it knows of that was for the message that is done.
    #[inline]
    pub(in crate::shard) fn forget_room(&mut self) {
        if self.knows_room() {
            self.underway = Underway::Nothing;
        }
    }

    /// Takes out what it knows of the room for its next message.
    pub(in crate::shard) fn take_room(&mut self) -> Option<RoomAnswer> {
        match std::mem::take(&mut self.underway) {
            Underway::Room(answer) => Some(answer),
            other => {
                self.underway = other;
                None
            }
        }
    }

    /// How much of its packet is done.
    pub(in crate::shard) fn parts(&self) -> Option<Parts> {
        if let Underway::Parts(parts) = &self.underway { Some(**parts) } else { None }
    }

    /// Takes that out.
    pub(in crate::shard) fn take_parts(&mut self) -> Option<Parts> {
        let parts = self.parts()?;
        self.underway = Underway::Nothing;
        Some(parts)
    }

    /// The packet that it throws away.
    #[inline]
    pub(in crate::shard) fn skipping(&self) -> Option<&Skipping> {
        if let Underway::Skipping(skipping) = &self.underway { Some(skipping) } else { None }
    }

    /// Takes that out.
    pub(in crate::shard) fn take_skipping(&mut self) -> Option<Box<Skipping>> {
        match std::mem::take(&mut self.underway) {
            Underway::Skipping(skipping) => Some(skipping),
            other => {
                self.underway = other;
                None
            }
        }
    }

    /// Whether its refusal waits.
    pub(in crate::shard) const fn is_delayed(&self) -> bool {
        matches!(self.underway, Underway::Delayed(_))
    }

    /// Takes its refusal out.
    pub(in crate::shard) fn take_delayed(&mut self) -> Option<Box<Delayed>> {
        match std::mem::take(&mut self.underway) {
            Underway::Delayed(delayed) => Some(delayed),
            other => {
                self.underway = other;
                None
            }
        }
    }

    /// Of a connection that has ended, and is read on: bytes that it may be read.
    pub(in crate::shard) const fn linger_bytes(&self) -> Option<u32> {
        if let Underway::Lingering { bytes_left } = self.underway { Some(bytes_left) } else { None }
    }
}

// As large as what is known of room, and every connection has one.
const _: () = assert!(size_of::<Underway>() <= 16);
