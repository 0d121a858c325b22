//! A message as a hook sees it, and as a hook has changed it.

use lapwing_access::{is_bridge_state, is_reserved};
use lapwing_codec::topic::validate_topic_name;
use lapwing_codec::{Limits, Publish, PublishProperties, QoS, SubscriptionIds, UserPropertiesBuf};

/// A message on its way into the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookMessage {
    /// Its topic; a topic alias is resolved.
    pub topic: String,
    /// Its bytes.
    pub payload: Vec<u8>,
    /// Its quality of service. A hook cannot change it: the exchange of acknowledgements has begun.
    pub qos: QoS,
    /// Whether it is to be retained.
    pub retain: bool,
    /// Payload Format Indicator: the publisher says that the payload is UTF-8 text.
    pub payload_is_utf8: Option<bool>,
    /// Message Expiry Interval, in seconds.
    pub message_expiry_s: Option<u32>,
    /// Response Topic.
    pub response_topic: Option<String>,
    /// Correlation Data.
    pub correlation_data: Option<Vec<u8>>,
    /// Content Type.
    pub content_type: Option<String>,
    /// User Properties, in order.
    pub user_properties: Vec<(String, String)>,
}

impl HookMessage {
    /// Copies `publish`, whose topic is resolved.
    pub(crate) fn of(publish: &Publish<'_>) -> Self {
        let properties = &publish.properties;
        HookMessage {
            topic: publish.topic.to_owned(),
            payload: publish.payload.to_vec(),
            qos: publish.qos,
            retain: publish.retain,
            payload_is_utf8: properties.payload_is_utf8,
            message_expiry_s: properties.message_expiry_s,
            response_topic: properties.response_topic.map(str::to_owned),
            correlation_data: properties.correlation_data.map(<[u8]>::to_vec),
            content_type: properties.content_type.map(str::to_owned),
            user_properties: properties.user.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        }
    }

    /// Bytes that it costs to keep, roughly.
    pub(crate) fn footprint(&self) -> usize {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let user: usize = self.user_properties.iter().map(|(key, value)| key.len() + value.len() + 48).sum();
        size_of::<Self>()
            + self.topic.len()
            + self.payload.len()
            + optional(&self.response_topic)
            + optional(&self.content_type)
            + self.correlation_data.as_ref().map_or(0, Vec::len)
            + user
    }
}

/// A message that a hook has changed, checked: a hook is trusted to decide, but not to know every rule of MQTT.
#[derive(Debug)]
pub(crate) struct Changed {
    message: HookMessage,
    user: UserPropertiesBuf,
}

impl Changed {
    /// Checks what the codec would have checked in a packet.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn check(message: HookMessage, limits: &Limits) -> Result<Self, &'static str> {
        validate_topic_name(&message.topic, limits).map_err(|error| error.what())?;
        if is_reserved(&message.topic) && !is_bridge_state(&message.topic) {
            return Err("a topic under $SYS, where only the broker itself publishes");
        }
        if let Some(topic) = &message.response_topic {
            validate_topic_name(topic, limits).map_err(|error| error.what())?;
        }
        check_text(message.content_type.as_deref().unwrap_or_default())?;
        if message.correlation_data.as_ref().is_some_and(|data| data.len() > usize::from(u16::MAX)) {
            return Err("correlation data of more than 65,535 bytes");
        }
        if message.user_properties.len() > usize::from(limits.user_properties_max) {
            return Err("more user properties than the limit");
        }
        let mut user = UserPropertiesBuf::new();
        for (key, value) in &message.user_properties {
            check_text(key)?;
            check_text(value)?;
            user.push(key, value).map_err(|_| "a user property that is too long")?;
        }
        if message.footprint() > limits.packet_bytes_max as usize + size_of::<HookMessage>() {
            return Err("a message that is larger than the largest packet");
        }
        Ok(Changed { message, user })
    }

    /// The message in place of `original`, whose packet id and QoS it keeps.
    pub(crate) fn publish<'a>(&'a self, original: &Publish<'_>) -> Publish<'a> {
        let message = &self.message;
        Publish {
            dup: original.dup,
            qos: original.qos,
            retain: message.retain,
            topic: &message.topic,
            packet_id: original.packet_id,
            properties: PublishProperties {
                payload_is_utf8: message.payload_is_utf8,
                message_expiry_s: message.message_expiry_s,
                topic_alias: None,
                response_topic: message.response_topic.as_deref(),
                correlation_data: message.correlation_data.as_deref(),
                content_type: message.content_type.as_deref(),
                subscription_ids: SubscriptionIds::EMPTY,
                user: self.user.as_ref(),
            },
            payload: &message.payload,
        }
    }
}

fn check_text(text: &str) -> Result<(), &'static str> {
    if text.len() > usize::from(u16::MAX) {
        return Err("a text of more than 65,535 bytes");
    }
    if text.contains('\0') { Err("a text with U+0000") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> HookMessage {
        HookMessage::of(&Publish::qos0("a/b", b"1"))
    }

    /// Is a message that nobody changed the same packet?
    #[test]
    fn there_and_back() {
        let mut user = UserPropertiesBuf::new();
        user.push("k", "v").unwrap();
        let properties = PublishProperties {
            payload_is_utf8: Some(true),
            message_expiry_s: Some(3),
            response_topic: Some("r"),
            correlation_data: Some(b"c"),
            content_type: Some("t"),
            user: user.as_ref(),
            ..PublishProperties::EMPTY
        };
        let publish = Publish { retain: true, properties, ..Publish::qos0("a/b", b"1") };
        let changed = Changed::check(HookMessage::of(&publish), &Limits::PROTOCOL).unwrap();
        assert_eq!(changed.publish(&publish), publish);
    }

    /// Is what no client may send refused from a hook too?
    #[test]
    fn what_breaks_the_protocol_is_refused() {
        let wrong: [fn(&mut HookMessage); 8] = [
            |m| m.topic = String::new(),
            |m| m.topic = "a/#".into(),
            |m| m.topic = "$SYS/broker/uptime".into(),
            |m| m.response_topic = Some("+".into()),
            |m| m.content_type = Some("\0".into()),
            |m| m.correlation_data = Some(vec![0; 65_536]),
            |m| m.user_properties = vec![("k".into(), "x".repeat(65_536))],
            |m| m.user_properties = vec![("\0".into(), String::new())],
        ];
        for (n, change) in wrong.into_iter().enumerate() {
            let mut message = message();
            change(&mut message);
            assert!(Changed::check(message, &Limits::PROTOCOL).is_err(), "{n}");
        }
        let limits = Limits { packet_bytes_max: 100, user_properties_max: 1, ..Limits::PROTOCOL };
        let large = HookMessage { payload: vec![0; 101], ..message() };
        assert!(Changed::check(large, &limits).is_err());
        let pair = || (String::new(), String::new());
        assert!(Changed::check(HookMessage { user_properties: vec![pair(), pair()], ..message() }, &limits).is_err());
    }
}
