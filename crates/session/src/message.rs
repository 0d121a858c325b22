//! A message that somebody must keep: shared by all its keepers on a shard.

use std::cell::Cell;

use lapwing_codec::{Publish, PublishProperties, QoS, SubscriptionIds, UserProperties, UserPropertiesBuf};

use crate::SessionKey;

/// No expiry.
const NEVER_MS: u64 = u64::MAX;

thread_local! {
    /// Number and bytes of the messages made on this thread, less those freed on it. Not a field of anything that is passed around:
    /// the last of several keepers frees a message, wherever it is, and only this is always at hand.
    static BALANCE: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

/// An owned message; used as `Arc<Message>` in queues, windows and as a retained message.
///
/// Texts lie in one allocation and bytes in another, so that a message costs three allocations with its `Arc`, however
/// many properties it has (user properties: one more).
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    /// Topic, response topic, content type, one behind the other.
    text: Box<str>,
    /// Payload, correlation data.
    data: Box<[u8]>,
    user: Option<Box<UserPropertiesBuf>>,
    topic_len: u32,
    response_topic_len: Option<u16>,
    content_type_len: Option<u16>,
    payload_len: u32,
    correlation_len: Option<u16>,
    payload_is_utf8: Option<bool>,
    qos: QoS,
    retain: bool,
    publisher: SessionKey,
    expires_at_ms: u64,
}

impl Message {
    /// Copies `publish`. `expires_at_ms`: on the monotonic clock; `None` = never. Packet id, DUP, alias and subscription
    /// identifiers belong to one connection and are not kept.
    pub fn new(publish: &Publish<'_>, publisher: SessionKey, expires_at_ms: Option<u64>) -> Self {
        let properties = &publish.properties;
        let texts = [Some(publish.topic), properties.response_topic, properties.content_type];
        let datas = [Some(publish.payload), properties.correlation_data];
        let message = Message {
            text: join_texts(texts),
            data: join_bytes(datas),
            user: own_user_properties(properties.user),
            topic_len: publish.topic.len() as u32,
            response_topic_len: properties.response_topic.map(|text| text.len() as u16),
            content_type_len: properties.content_type.map(|text| text.len() as u16),
            payload_len: publish.payload.len() as u32,
            correlation_len: properties.correlation_data.map(|data| data.len() as u16),
            payload_is_utf8: properties.payload_is_utf8,
            qos: publish.qos,
            retain: publish.retain,
            publisher,
            expires_at_ms: expires_at_ms.unwrap_or(NEVER_MS),
        };
        let (count, bytes) = BALANCE.get();
        BALANCE.set((count + 1, bytes + message.footprint() as i64));
        message
    }

    /// Bytes of all messages made on this thread, less those freed on it, as [`Message::footprint`] counts them. A message
    /// counts once, however many keep it; one that is freed elsewhere makes this too high and that too low, so that
    /// only the sum over all threads means something.
    pub fn balance_bytes() -> i64 {
        BALANCE.get().1
    }

    /// The number of these messages, in the same way.
    pub fn balance() -> i64 {
        BALANCE.get().0
    }

    /// The message as a PUBLISH with its own QoS and RETAIN, without packet id and Message Expiry Interval.
    pub fn publish(&self) -> Publish<'_> {
        let (topic, rest) = self.text.split_at(self.topic_len as usize);
        let (response_topic, content_type) = rest.split_at(usize::from(self.response_topic_len.unwrap_or(0)));
        let (payload, correlation_data) = self.data.split_at(self.payload_len as usize);
        Publish {
            dup: false,
            qos: self.qos,
            retain: self.retain,
            topic,
            packet_id: None,
            properties: PublishProperties {
                payload_is_utf8: self.payload_is_utf8,
                message_expiry_s: None,
                topic_alias: None,
                response_topic: self.response_topic_len.map(|_| response_topic),
                correlation_data: self.correlation_len.map(|_| correlation_data),
                content_type: self.content_type_len.map(|_| content_type),
                subscription_ids: SubscriptionIds::EMPTY,
                user: self.user.as_ref().map_or(UserProperties::EMPTY, |user| (**user).as_ref()),
            },
            payload,
        }
    }

    /// Its topic.
    pub fn topic(&self) -> &str {
        &self.text[..self.topic_len as usize]
    }

    /// Its payload.
    pub fn payload(&self) -> &[u8] {
        &self.data[..self.payload_len as usize]
    }

    /// The QoS it was published with.
    pub const fn qos(&self) -> QoS {
        self.qos
    }

    /// The session that published it.
    pub const fn publisher(&self) -> SessionKey {
        self.publisher
    }

    /// When it expires, on the monotonic clock.
    pub const fn expires_at_ms(&self) -> Option<u64> {
        if self.expires_at_ms == NEVER_MS { None } else { Some(self.expires_at_ms) }
    }

    /// Whether its Message Expiry Interval has passed.
    pub const fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_at_ms <= now_ms
    }

    /// Sets the deadline of a message that nobody shares yet.
    pub(crate) fn expire_at(&mut self, expires_at_ms: Option<u64>) {
        self.expires_at_ms = expires_at_ms.unwrap_or(NEVER_MS);
    }

    /// What it costs to keep, in bytes, roughly.
    pub fn footprint(&self) -> usize {
        let user = self.user.as_ref().map_or(0, |user| user_bytes(user.as_ref().as_ref()));
        size_of::<Message>() + 16 + self.text.len() + self.data.len() + user
    }

    /// The same for the message that `publish` would make.
    pub fn footprint_of(publish: &Publish<'_>) -> usize {
        let properties = &publish.properties;
        let texts = [Some(publish.topic), properties.response_topic, properties.content_type];
        let datas = [Some(publish.payload), properties.correlation_data];
        let text: usize = texts.iter().flatten().map(|text| text.len()).sum();
        let data: usize = datas.iter().flatten().map(|data| data.len()).sum();
        size_of::<Message>() + 16 + text + data + user_bytes(properties.user)
    }
}

fn user_bytes(user: UserProperties<'_>) -> usize {
    user.iter().map(|(name, value)| name.len() + value.len() + 5).sum()
}

impl Drop for Message {
    fn drop(&mut self) {
        let (count, bytes) = BALANCE.get();
        BALANCE.set((count - 1, bytes - self.footprint() as i64));
    }
}

/// One allocation of the exact size.
fn join_texts(parts: [Option<&str>; 3]) -> Box<str> {
    let mut joined = String::with_capacity(parts.iter().flatten().map(|part| part.len()).sum());
    parts.into_iter().flatten().for_each(|part| joined.push_str(part));
    joined.into_boxed_str()
}

fn join_bytes(parts: [Option<&[u8]>; 2]) -> Box<[u8]> {
    let mut joined = Vec::with_capacity(parts.iter().flatten().map(|part| part.len()).sum());
    parts.into_iter().flatten().for_each(|part| joined.extend_from_slice(part));
    joined.into_boxed_slice()
}

fn own_user_properties(user: UserProperties<'_>) -> Option<Box<UserPropertiesBuf>> {
    if user.is_empty() {
        return None;
    }
    let mut owned = Box::<UserPropertiesBuf>::default();
    for (name, value) in user.iter() {
        owned.push(name, value).expect("what came in one packet fits into one packet");
    }
    Some(owned)
}

#[cfg(test)]
mod tests {
    use lapwing_codec::{PublishProperties, UserPropertiesBuf};

    use super::*;

    /// Does what a message has of its own count byte for byte?
    #[test]
    fn the_footprint_grows_with_what_is_kept() {
        let footprint = |publish: &Publish<'_>| {
            let footprint = Message::new(publish, SessionKey(1), None).footprint();
            assert_eq!(footprint, Message::footprint_of(publish), "known before it is made");
            footprint
        };
        let plain = footprint(&Publish::qos0("t", b""));
        assert_eq!(plain, size_of::<Message>() + 16 + 1);
        assert_eq!(footprint(&Publish::qos0("topic", b"payload")), plain + 4 + 7);
        let mut user = UserPropertiesBuf::new();
        user.push("name", "value").unwrap();
        user.push("k", "v").unwrap();
        let properties = PublishProperties { user: user.as_ref(), ..PublishProperties::default() };
        let with_user = Publish { properties, ..Publish::qos0("t", b"") };
        assert_eq!(footprint(&with_user), plain + (4 + 5 + 5) + (1 + 1 + 5));
    }
}
