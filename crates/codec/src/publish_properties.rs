//! The properties of a PUBLISH.

use crate::owner::PUBLISH;
use crate::property::*;
use crate::read::Reader;
use crate::write::{Section, Sink};
use crate::{Limits, ProtocolError, SubscriptionIds, UserProperties};

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

impl<'a> PublishProperties<'a> {
    /// No properties.
    pub const EMPTY: PublishProperties<'static> = PublishProperties {
        payload_is_utf8: None,
        message_expiry_s: None,
        topic_alias: None,
        response_topic: None,
        correlation_data: None,
        content_type: None,
        subscription_ids: SubscriptionIds::EMPTY,
        user: UserProperties::EMPTY,
    };

    /// Whether no property is present.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.payload_is_utf8.is_none()
            && self.message_expiry_s.is_none()
            && self.topic_alias.is_none()
            && self.response_topic.is_none()
            && self.correlation_data.is_none()
            && self.content_type.is_none()
            && self.subscription_ids.is_empty()
            && self.user.is_empty()
    }

    /// Reads a section. Fills in place: moving a struct of this size costs more than reading it.
    #[inline]
    pub(crate) fn fill(&mut self, reader: &mut Reader<'a>, limits: &Limits) -> Result<(), ProtocolError> {
        let mut section = Properties::open(reader, PUBLISH, limits)?;
        let from = section.at();
        let mut subscription_ids = 0;
        while let Some(property) = section.next()? {
            subscription_ids += u32::from(property.id == SUBSCRIPTION_IDENTIFIER);
            self.set(property);
        }
        if subscription_ids > 0 {
            self.subscription_ids = SubscriptionIds::from_validated(section.raw_since(from), subscription_ids);
        }
        self.user = section.user();
        Ok(())
    }

    #[inline]
    fn set(&mut self, property: Property<'a>) {
        match (property.id, property.value) {
            (PAYLOAD_FORMAT_INDICATOR, Value::Flag(is_utf8)) => self.payload_is_utf8 = Some(is_utf8),
            (MESSAGE_EXPIRY_INTERVAL, Value::U32(seconds)) => self.message_expiry_s = Some(seconds),
            (TOPIC_ALIAS, Value::U16(alias)) => self.topic_alias = Some(alias),
            (RESPONSE_TOPIC, Value::Text(topic)) => self.response_topic = Some(topic),
            (CORRELATION_DATA, Value::Binary(data)) => self.correlation_data = Some(data),
            (CONTENT_TYPE, Value::Text(text)) => self.content_type = Some(text),
            _ => {}
        }
    }
}

impl Section for PublishProperties<'_> {
    fn write(&self, sink: &mut impl Sink) {
        sink.flag_property(PAYLOAD_FORMAT_INDICATOR, self.payload_is_utf8);
        sink.u32_property(MESSAGE_EXPIRY_INTERVAL, self.message_expiry_s);
        sink.u16_property(TOPIC_ALIAS, self.topic_alias);
        sink.text_property(RESPONSE_TOPIC, "response topic", self.response_topic);
        sink.binary_property(CORRELATION_DATA, "correlation data", self.correlation_data);
        sink.text_property(CONTENT_TYPE, "content type", self.content_type);
        for id in self.subscription_ids.iter() {
            sink.u8(SUBSCRIPTION_IDENTIFIER);
            sink.varint(id.get());
        }
        sink.user_properties(&self.user);
    }
}
