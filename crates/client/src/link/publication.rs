//! A message that waits for the broker, on its own: owns what the packet will borrow.

use crate::error::ClientError;
use crate::expiry::left_s;
use crate::texts;
use lapwing_codec::{Publish, PublishProperties, QoS, UserPropertiesBuf, Version};
use std::time::Instant;

/// What one costs besides its texts and bytes.
const OVERHEAD_BYTES: usize = 64;
/// What a user property costs besides its texts.
const USER_BYTES: usize = 5;

/// One message to be published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Publication {
    /// Where to.
    pub topic: String,
    /// What.
    pub payload: Vec<u8>,
    /// The quality.
    pub qos: QoS,
    /// The broker keeps it for later subscribers.
    pub retain: bool,
    /// User properties (5.0).
    pub user: UserPropertiesBuf,
    /// Content type (5.0).
    pub content_type: Option<String>,
    /// Where to answer (5.0).
    pub response_topic: Option<String>,
    /// What to answer with (5.0).
    pub correlation_data: Option<Vec<u8>>,
    /// Seconds after which nobody gets it any more (5.0). They run from `since` on: what waits here longer than a tenth of a
    /// second is sent with what is left of them, in whole seconds, and not at all if that is nothing.
    pub message_expiry_s: Option<u32>,
    /// When it was published; None: when it is handed over.
    pub since: Option<Instant>,
}

impl Publication {
    /// Bytes that it counts for in the bounds of a link.
    pub fn cost(&self) -> usize {
        let texts = [&self.content_type, &self.response_topic].into_iter().flatten().map(String::len);
        let properties = texts.sum::<usize>() + self.correlation_data.as_ref().map_or(0, Vec::len);
        let user: usize = self.user.as_ref().iter().map(|(name, value)| USER_BYTES + name.len() + value.len()).sum();
        OVERHEAD_BYTES + self.topic.len() + self.payload.len() + properties + user
    }

    /// Whether `version` can say it.
    ///
    /// # Errors
    /// `Invalid`: a topic that cannot be published to, a property in 3.1.1, a text too long or with U+0000.
    pub fn check(&self, version: Version) -> Result<(), ClientError> {
        let properties = self.properties();
        texts::check_message(&self.topic, &properties)?;
        if !version.has_properties() && !properties.is_empty() {
            let topic = &self.topic;
            return Err(ClientError::Invalid(format!("topic {topic:?}: MQTT 3.1.1 has no properties")));
        }
        let texts = [&self.content_type, &self.response_topic].into_iter().flatten().map(String::len);
        let longest = texts.chain(self.correlation_data.iter().map(Vec::len)).max().unwrap_or(0);
        if longest > usize::from(u16::MAX) {
            return Err(ClientError::Invalid(format!("topic {:?}: a property has more than 65,535 bytes", self.topic)));
        }
        Ok(())
    }

    /// The packet, with what is left of its expiry; None: that is over.
    pub(crate) fn packet(&self, now: Instant) -> Option<Publish<'_>> {
        let mut properties = self.properties();
        if let (Some(expiry_s), Some(since)) = (self.message_expiry_s, self.since) {
            properties.message_expiry_s = Some(left_s(expiry_s, now.saturating_duration_since(since))?);
        }
        Some(Publish {
            dup: false,
            qos: self.qos,
            retain: self.retain,
            topic: &self.topic,
            packet_id: None,
            properties,
            payload: &self.payload,
        })
    }

    fn properties(&self) -> PublishProperties<'_> {
        PublishProperties {
            user: self.user.as_ref(),
            content_type: self.content_type.as_deref(),
            response_topic: self.response_topic.as_deref(),
            correlation_data: self.correlation_data.as_deref(),
            message_expiry_s: self.message_expiry_s,
            ..PublishProperties::EMPTY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does everything count that a message keeps?
    #[test]
    fn costs() {
        let mut user = UserPropertiesBuf::new();
        user.push("name", "value").expect("fits");
        let large = Publication {
            topic: "a/b".to_owned(),
            payload: vec![0; 10],
            user,
            content_type: Some("t".repeat(100)),
            response_topic: Some("r".repeat(200)),
            correlation_data: Some(vec![0; 300]),
            ..Publication::default()
        };
        assert_eq!(large.cost(), OVERHEAD_BYTES + 13 + 9 + USER_BYTES + 600);
    }

    /// Is what cannot be published refused before it is taken, with its topic in the message?
    #[test]
    fn checked() {
        let good = Publication { topic: "a/b".to_owned(), ..Publication::default() };
        assert!(good.check(Version::V5).is_ok() && good.check(Version::V311).is_ok());
        let expiring = Publication { message_expiry_s: Some(1), ..good.clone() };
        assert!(expiring.check(Version::V5).is_ok());
        let wild = Publication { topic: "a/#".to_owned(), ..good.clone() };
        let answered = Publication { response_topic: Some("b/+".to_owned()), ..good.clone() };
        let torn = Publication { content_type: Some("a\0b".to_owned()), ..good };
        for (wrong, version, named) in [
            (expiring, Version::V311, "a/b"),
            (wild, Version::V5, "a/#"),
            (answered, Version::V5, "b/+"),
            (torn, Version::V5, "content type"),
        ] {
            let error = wrong.check(version).expect_err("refused").to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    /// Does an expiry run, and what has none go however long it waited?
    #[test]
    fn an_expiry_runs() {
        let since = Instant::now();
        let after = |seconds| since + std::time::Duration::from_secs(seconds);
        let one = Publication { message_expiry_s: Some(9), since: Some(since), ..Publication::default() };
        let left = |one: &Publication, seconds| one.packet(after(seconds)).map(|it| it.properties.message_expiry_s);
        assert_eq!([0, 8, 9].map(|seconds| left(&one, seconds)), [Some(Some(9)), Some(Some(1)), None]);
        let lasting = Publication { message_expiry_s: None, ..one };
        assert_eq!(left(&lasting, 1000), Some(None));
    }
}
