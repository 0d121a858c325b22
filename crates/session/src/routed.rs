//! A message on its way to the sessions of one shard.

use std::cell::OnceCell;
use std::sync::Arc;

use lapwing_codec::Publish;

use crate::{Message, SessionKey};

/// One message, borrowed from where it lies (a read buffer, a mailbox, a retained message); made once per shard and handed
/// to each receiver. The first receiver that must keep it makes the owned copy; the others share that one.
#[derive(Debug)]
pub struct Routed<'a> {
    pub(crate) publish: Publish<'a>,
    pub(crate) publisher: SessionKey,
    pub(crate) expires_at_ms: Option<u64>,
    /// Sent because of a new subscription, not because it was published just now.
    pub(crate) is_replay: bool,
    kept: OnceCell<Arc<Message>>,
}

impl<'a> Routed<'a> {
    /// A PUBLISH that came in at `now_ms`; its Message Expiry Interval starts there.
    #[inline]
    pub fn new(publish: Publish<'a>, publisher: SessionKey, now_ms: u64) -> Self {
        let expiry_s = publish.properties.message_expiry_s;
        let expires_at_ms = expiry_s.map(|expiry_s| now_ms.saturating_add(u64::from(expiry_s) * 1000));
        Self::with_deadline(publish, publisher, expires_at_ms)
    }

    /// A PUBLISH whose deadline is known, for one that came through a mailbox.
    #[inline]
    pub const fn with_deadline(publish: Publish<'a>, publisher: SessionKey, expires_at_ms: Option<u64>) -> Self {
        Routed { publish, publisher, expires_at_ms, is_replay: false, kept: OnceCell::new() }
    }

    /// A message that is owned already: a will, or one handed over by another shard.
    pub fn of(message: &'a Arc<Message>) -> Self {
        let kept = OnceCell::from(Arc::clone(message));
        let (publisher, expires_at_ms) = (message.publisher(), message.expires_at_ms());
        Routed { publish: message.publish(), publisher, expires_at_ms, is_replay: false, kept }
    }

    /// A retained message for a new subscription: goes out with RETAIN 1 (3.3.1.3).
    pub fn retained(message: &'a Arc<Message>) -> Self {
        Routed { is_replay: true, ..Self::of(message) }
    }

    /// The same message with another deadline; what its PUBLISH says of its expiry is of no account from here on.
    pub fn expiring(&self, expires_at_ms: Option<u64>) -> Self {
        Routed { is_replay: self.is_replay, ..Self::with_deadline(self.publish, self.publisher, expires_at_ms) }
    }

    /// The PUBLISH as it came.
    pub const fn publish(&self) -> &Publish<'a> {
        &self.publish
    }

    /// Who published it.
    pub const fn publisher(&self) -> SessionKey {
        self.publisher
    }

    /// When it expires, on the monotonic clock.
    pub const fn expires_at_ms(&self) -> Option<u64> {
        self.expires_at_ms
    }

    /// What the owned message takes, as [`Message::footprint`] counts it.
    pub fn footprint(&self) -> usize {
        Message::footprint_of(&self.publish)
    }

    /// The owned message, made on the first call.
    pub fn keep(&self) -> &Arc<Message> {
        self.kept.get_or_init(|| Arc::new(Message::new(&self.publish, self.publisher, self.expires_at_ms)))
    }
}
