//! The properties of a PUBLISH.

use crate::{SubscriptionIds, UserProperties};

/// Properties of a PUBLISH; all absent in 3.1.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishProperties<'a> {
    /// Payload Format Indicator: the sender says that the payload is UTF-8 text.
    pub payload_is_utf8: Option<bool>,
    /// Message Expiry Interval, in seconds.
    pub message_expiry_s: Option<u32>,
    /// Topic Alias, 1..=65535 (0 is refused with 0x94).
    pub topic_alias: Option<u16>,
    /// Response Topic: a topic name without wildcards.
    pub response_topic: Option<&'a str>,
    /// Correlation Data.
    pub correlation_data: Option<&'a [u8]>,
    /// Content Type.
    pub content_type: Option<&'a str>,
    /// Subscription Identifiers; only a server may send them.
    pub subscription_ids: SubscriptionIds<'a>,
    /// User Properties.
    pub user: UserProperties<'a>,
}

impl PublishProperties<'_> {
    /// Whether no property is present.
    pub fn is_empty(&self) -> bool {
        *self == PublishProperties::default()
    }
}
