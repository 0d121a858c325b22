//! The will: published when its client goes without saying goodbye.

use std::sync::Arc;

use lapwing_codec::{Publish, Will};

use crate::{Message, Session, SessionKey};

/// A will as its client gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WillMessage<'a> {
    /// What is to be published, without Message Expiry Interval.
    pub publish: Publish<'a>,
    /// Will Delay Interval, in seconds.
    pub delay_s: u32,
    /// Message Expiry Interval, in seconds, from when it is published.
    pub message_expiry_s: Option<u32>,
}

/// A will that may have to be published.
#[derive(Debug)]
pub(crate) struct StoredWill {
    message: Message,
    delay_s: u32,
    message_expiry_s: Option<u32>,
    /// When the delay is over; set while the client is away.
    pub(crate) due_at_ms: Option<u64>,
}

impl StoredWill {
    pub(crate) fn new(will: &Will<'_>, publisher: SessionKey) -> Self {
        let mut publish = will.publish();
        // It begins when the will is published.
        let message_expiry_s = publish.properties.message_expiry_s.take();
        Self::of(&WillMessage { publish, delay_s: will.properties.delay_s, message_expiry_s }, publisher)
    }

    /// The same from what was stored of it; what expiry its PUBLISH has is not looked at.
    pub(crate) fn of(will: &WillMessage<'_>, publisher: SessionKey) -> Self {
        StoredWill {
            message: Message::new(&will.publish, publisher, None),
            delay_s: will.delay_s,
            message_expiry_s: will.message_expiry_s,
            due_at_ms: None,
        }
    }

    /// What has to be known to make it again.
    pub(crate) fn will_message(&self) -> WillMessage<'_> {
        let (delay_s, message_expiry_s) = (self.delay_s, self.message_expiry_s);
        WillMessage { publish: self.message.publish(), delay_s, message_expiry_s }
    }

    /// Where it will be published.
    pub(crate) fn topic(&self) -> &str {
        self.message.topic()
    }

    /// The client has gone: returns when the will is due, its delay over.
    pub(crate) fn start_delay(&mut self, now_ms: u64) -> u64 {
        let due_at_ms = now_ms.saturating_add(u64::from(self.delay_s) * 1000);
        self.due_at_ms = Some(due_at_ms);
        due_at_ms
    }

    /// The message to publish now; its Message Expiry Interval starts now [MQTT 5.0, 3.1.3.2.4].
    pub(crate) fn into_message(mut self, now_ms: u64) -> Arc<Message> {
        let expiry_s = self.message_expiry_s;
        self.message.expire_at(expiry_s.map(|expiry_s| now_ms.saturating_add(u64::from(expiry_s) * 1000)));
        Arc::new(self.message)
    }
}

impl Session {
    /// Another will from now on, or none, while its client is here: that one has said so in a way of its own, for MQTT has none.
    pub fn replace_will(&mut self, will: Option<&Will<'_>>) {
        self.will = will.map(|will| Box::new(StoredWill::new(will, self.key)));
    }
}
