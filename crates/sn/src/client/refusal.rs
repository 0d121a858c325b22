//! A publish that the gateway refused: MQTT 3.1.1 has no packet that says so.

use lapwing_codec::PacketId;

use crate::ReturnCode;

/// The end of a message of QoS 1 or 2 that nobody got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which.
    pub packet_id: PacketId,
    /// Why.
    pub code: ReturnCode,
}

impl Refusal {
    /// Why, in words for people.
    pub const fn words(&self) -> &'static str {
        match self.code {
            ReturnCode::CONGESTION => {
                "the gateway says 0x01 (congestion): it has no room for the message, or for another topic of this client"
            }
            ReturnCode::INVALID_TOPIC_ID => "the gateway says 0x02 (invalid topic id): it does not keep the topic's id",
            ReturnCode::NOT_SUPPORTED => {
                "the gateway says 0x03 (not supported): perhaps this client may not publish there"
            }
            _ => "the gateway refused it, with a code that the specification reserves",
        }
    }
}
