//! What happened to messages, by name.

/// Why a message did not reach a client.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The session's queue was full; see `QueuePolicy`.
    QueueFull,
    /// Its Message Expiry Interval passed before delivery began.
    Expired,
    /// It waited as long as messages may in the session's queue: see `Settings::queue_age_ms_max`.
    QueueAge,
    /// It is larger than the Maximum Packet Size of the client [MQTT-3.1.2-25].
    PacketTooLarge,
    /// QoS 0 for a client that is not connected.
    Offline,
    /// QoS 0 for a client that does not read as fast as it is sent to.
    OutputFull,
    /// The session ended with the message in its queue or unacknowledged.
    SessionEnded,
    /// With the properties to be added the packet is longer than the protocol allows.
    NotEncodable,
    /// An operator has emptied the queue that it waited in.
    QueueEmptied,
    /// It was damaged where it lay, and its loss was accepted.
    Damaged,
}

impl DropReason {
    /// Every reason, in the order of their numbers.
    pub const ALL: [DropReason; 10] = [
        DropReason::QueueFull,
        DropReason::Expired,
        DropReason::QueueAge,
        DropReason::PacketTooLarge,
        DropReason::Offline,
        DropReason::OutputFull,
        DropReason::SessionEnded,
        DropReason::NotEncodable,
        DropReason::QueueEmptied,
        DropReason::Damaged,
    ];

    /// The label in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::QueueFull => "queue_full",
            DropReason::Expired => "expired",
            DropReason::QueueAge => "queue_age",
            DropReason::PacketTooLarge => "packet_too_large",
            DropReason::Offline => "offline",
            DropReason::OutputFull => "output_full",
            DropReason::SessionEnded => "session_ended",
            DropReason::NotEncodable => "not_encodable",
            DropReason::QueueEmptied => "queue_emptied",
            DropReason::Damaged => "damaged",
        }
    }
}

/// Counts since the start; one per shard, no atomics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    dropped: [u64; DropReason::ALL.len()],
    /// Messages sent again after a reconnect.
    pub retransmitted: u64,
    /// QoS 2 messages that a client sent again and that were not published again.
    pub duplicates: u64,
}

impl Counters {
    /// Messages dropped for `reason`.
    pub const fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped[reason as usize]
    }

    pub(crate) fn count_drop(&mut self, reason: DropReason) {
        self.count_drops(reason, 1);
    }

    pub(crate) fn count_drops(&mut self, reason: DropReason, messages: usize) {
        self.dropped[reason as usize] += messages as u64;
    }
}
