//! What a kept session tells, so that it can be put together again after a crash.

use std::num::NonZeroU64;

use lapwing_codec::PacketId;

/// A change of a kept session's state; see [`crate::Session::take_facts`]. `entry` is the index under which the message was
/// logged, as given to [`crate::Session::deliver`]: messages without one tell nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The message has left the session, whatever the reason: acknowledged, refused, displaced, expired, too large for its
    /// client. Told once per message.
    Finished {
        /// Which one.
        entry: NonZeroU64,
    },
    /// PUBLISH of a QoS 2 message is being sent under this packet id, for the first time.
    PublishSent {
        /// Names it to the client from now on.
        packet_id: PacketId,
        /// Which one.
        entry: NonZeroU64,
    },
    /// PUBREC has come: the client owns the message. Only the packet id is needed from now on, until `Finished`.
    PubRecReceived {
        /// As in `PublishSent`.
        packet_id: PacketId,
    },
    /// A QoS 2 message from the client is durable wherever it belongs, and not released.
    Received {
        /// The client's name for it.
        packet_id: PacketId,
        /// See [`crate::Origin`].
        use_number: u64,
    },
    /// PUBREL, or whatever else ends a doubt: the client does not send the message of this packet id again.
    Released {
        /// As in `Received`.
        packet_id: PacketId,
    },
    /// Of a session that is being put together: the log has something of a QoS 2 message from the client, and nothing says that it
    /// was taken. No session tells this; whoever reads the log does, once, before it goes on.
    Doubted {
        /// The client's name for it.
        packet_id: PacketId,
        /// See [`crate::Origin`].
        use_number: u64,
    },
}

impl Fact {
    /// Whether bytes that were written in the same call may leave only when the fact is durable.
    ///
    /// PUBLISH goes with a packet id that will be known again, PUBREL when the PUBREC will not be forgotten, PUBCOMP when the
    /// release will not. PUBREC has waited for the message itself, by its commit token: from that it can be known again that the
    /// message was taken, by its [`crate::Origin`], so `Received` holds nothing.
    ///
    /// It is a matter of the session, not of the connection: where that breaks first, the next one says the same again
    /// without a fact, and has to wait for the one that was told.
    pub const fn fences_output(&self) -> bool {
        match self {
            Fact::PublishSent { .. } | Fact::PubRecReceived { .. } | Fact::Released { .. } => true,
            Fact::Finished { .. } | Fact::Received { .. } | Fact::Doubted { .. } => false,
        }
    }
}

// They are told by the million.
const _: () = assert!(size_of::<Fact>() <= 16);
