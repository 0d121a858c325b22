//! The will: a message the server publishes when the connection ends without DISCONNECT.

use crate::owner::WILL;
use crate::property::*;
use crate::read::Reader;
use crate::topic;
use crate::write::{Section, Sink};
use crate::{Limits, ProtocolError, Publish, PublishProperties, QoS, SubscriptionIds, UserProperties, Version};

/// The will of a CONNECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Will<'a> {
    /// Topic name, validated.
    pub topic: &'a str,
    /// The message; at most 65,535 bytes.
    pub payload: &'a [u8],
    /// Quality of service.
    pub qos: QoS,
    /// To be retained.
    pub retain: bool,
    /// Properties (5.0).
    pub properties: WillProperties<'a>,
}

/// Properties of a will; an absent one has the value that the specification gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WillProperties<'a> {
    /// Will Delay Interval, in seconds; absent = 0.
    pub delay_s: u32,
    /// Payload Format Indicator.
    pub payload_is_utf8: Option<bool>,
    /// Message Expiry Interval, in seconds.
    pub message_expiry_s: Option<u32>,
    /// Content Type.
    pub content_type: Option<&'a str>,
    /// Response Topic.
    pub response_topic: Option<&'a str>,
    /// Correlation Data.
    pub correlation_data: Option<&'a [u8]>,
    /// User Properties.
    pub user: UserProperties<'a>,
}

impl<'a> Will<'a> {
    /// The PUBLISH that it becomes once it is due.
    pub const fn publish(&self) -> Publish<'a> {
        let WillProperties {
            delay_s: _,
            payload_is_utf8,
            message_expiry_s,
            content_type,
            response_topic,
            correlation_data,
            user,
        } = self.properties;
        Publish {
            dup: false,
            qos: self.qos,
            retain: self.retain,
            topic: self.topic,
            packet_id: None,
            properties: PublishProperties {
                payload_is_utf8,
                message_expiry_s,
                topic_alias: None,
                response_topic,
                correlation_data,
                content_type,
                subscription_ids: SubscriptionIds::EMPTY,
                user,
            },
            payload: self.payload,
        }
    }

    /// Reads the will from the payload of a CONNECT; its QoS and RETAIN come from the connect flags.
    pub(crate) fn decode(
        reader: &mut Reader<'a>,
        version: Version,
        qos: QoS,
        retain: bool,
        limits: &Limits,
    ) -> Result<Self, ProtocolError> {
        let mut properties = WillProperties::default();
        if version.has_properties() {
            properties = WillProperties::decode(reader, limits)?;
        }
        let at = reader.at();
        let topic = topic::name_from_bytes(reader.binary()?, limits).map_err(|error| error.at_name(at))?;
        let payload = reader.binary()?;
        Ok(Will { topic, payload, qos, retain, properties })
    }

    /// Writes the part of the payload that [`Will::decode`] reads.
    pub(crate) fn write(&self, version: Version, sink: &mut impl Sink) {
        if version.has_properties() {
            sink.section(&self.properties);
        }
        sink.field("will topic", self.topic.as_bytes());
        sink.field("will payload", self.payload);
    }
}

impl<'a> WillProperties<'a> {
    fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, ProtocolError> {
        let mut section = Properties::open(reader, WILL, limits)?;
        let mut properties = WillProperties::default();
        while let Some(property) = section.next()? {
            match (property.id, property.value) {
                (WILL_DELAY_INTERVAL, Value::U32(seconds)) => properties.delay_s = seconds,
                (PAYLOAD_FORMAT_INDICATOR, Value::Flag(is_utf8)) => properties.payload_is_utf8 = Some(is_utf8),
                (MESSAGE_EXPIRY_INTERVAL, Value::U32(seconds)) => properties.message_expiry_s = Some(seconds),
                (CONTENT_TYPE, Value::Text(text)) => properties.content_type = Some(text),
                (RESPONSE_TOPIC, Value::Text(topic)) => properties.response_topic = Some(topic),
                (CORRELATION_DATA, Value::Binary(data)) => properties.correlation_data = Some(data),
                _ => {}
            }
        }
        properties.user = section.user();
        Ok(properties)
    }
}

impl Section for WillProperties<'_> {
    fn write(&self, sink: &mut impl Sink) {
        sink.u32_property(WILL_DELAY_INTERVAL, (self.delay_s != 0).then_some(self.delay_s));
        sink.flag_property(PAYLOAD_FORMAT_INDICATOR, self.payload_is_utf8);
        sink.u32_property(MESSAGE_EXPIRY_INTERVAL, self.message_expiry_s);
        sink.text_property(CONTENT_TYPE, "content type", self.content_type);
        sink.text_property(RESPONSE_TOPIC, "response topic", self.response_topic);
        sink.binary_property(CORRELATION_DATA, "correlation data", self.correlation_data);
        sink.user_properties(&self.user);
    }
}
