//! A message that was received, on its own: owns what the packet borrowed.

use lapwing_codec::{PacketId, Publish, QoS};

/// One received message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Where it was published.
    pub topic: String,
    /// What was published.
    pub payload: Vec<u8>,
    /// The quality it came with.
    pub qos: QoS,
    /// It was retained (or, with retain-as-published, sent to be).
    pub retain: bool,
    /// The broker may have sent it before.
    pub dup: bool,
    /// User properties, in order (5.0).
    pub user_properties: Vec<(String, String)>,
    /// Content type (5.0).
    pub content_type: Option<String>,
    /// Where to answer (5.0).
    pub response_topic: Option<String>,
    /// What to answer with (5.0).
    pub correlation_data: Option<Vec<u8>>,
    /// Seconds it has left (5.0).
    pub message_expiry_s: Option<u32>,
    /// The identifiers of the subscriptions that it matched (5.0).
    pub subscription_ids: Vec<u32>,
    /// Its packet id, for the acknowledgement.
    pub(crate) packet_id: Option<PacketId>,
}

impl From<&Publish<'_>> for Message {
    fn from(publish: &Publish<'_>) -> Self {
        let properties = &publish.properties;
        Self {
            topic: publish.topic.to_owned(),
            payload: publish.payload.to_vec(),
            qos: publish.qos,
            retain: publish.retain,
            dup: publish.dup,
            user_properties: properties.user.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            content_type: properties.content_type.map(str::to_owned),
            response_topic: properties.response_topic.map(str::to_owned),
            correlation_data: properties.correlation_data.map(<[u8]>::to_vec),
            message_expiry_s: properties.message_expiry_s,
            subscription_ids: properties.subscription_ids.iter().map(|id| id.get()).collect(),
            packet_id: publish.packet_id,
        }
    }
}
