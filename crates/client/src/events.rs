//! What a client's protocol tells its caller.

use lapwing_codec::{PacketId, Publish, ReasonCode, UserPropertiesBuf};

/// What the broker said in CONNACK that a caller may want to know.
#[derive(Clone, Copy, Debug)]
pub struct Connected<'a> {
    /// The broker still had our session.
    pub session_present: bool,
    /// The client id the broker chose, if we had none.
    pub assigned_client_id: Option<&'a str>,
    /// It tells us who published each message, as we asked (`lapwing-envelope`).
    pub tells_publishers: bool,
}

/// The broker's no to a QoS 1 or 2 publish.
#[derive(Clone, Copy, Debug)]
pub struct Rejected<'a> {
    /// Where it was to go. Known to a client that keeps packets to send them again.
    pub topic: Option<&'a str>,
    /// Why.
    pub reason: ReasonCode,
    /// The broker's own words.
    pub words: Option<&'a str>,
}

/// Whether an incoming QoS 1 or 2 message is acknowledged at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Now: the caller has it.
    Now,
    /// Later, by `Protocol::acknowledge`: it lies in a queue of the caller's.
    Later,
}

/// What happens on a connection. A caller implements what it wants to hear.
pub trait Events {
    /// The broker accepted the connection.
    fn connected(&mut self, _connected: &Connected<'_>) {}
    /// A message came. Repeats of a QoS 2 message are not shown.
    fn message(&mut self, _publish: &Publish<'_>) -> Answer {
        Answer::Now
    }
    /// No further packet is to be looked at for now.
    fn is_full(&self) -> bool {
        false
    }
    /// A QoS 2 message that was shown came again: `Answer::Later` if its own answer is still to come.
    fn repeated(&mut self, _id: PacketId) -> Answer {
        Answer::Now
    }
    /// A QoS 2 message is about to be completed: what its PUBCOMP says besides (5.0).
    fn completing(&mut self) -> UserPropertiesBuf {
        UserPropertiesBuf::new()
    }
    /// The broker's last answer to a QoS 1 or 2 publish.
    fn acknowledged(&mut self, _token: u64, _reason: ReasonCode) {}
    /// The same, where it is a no. Who does not care for the details hears it in `acknowledged`.
    fn rejected(&mut self, token: u64, rejected: &Rejected<'_>) {
        self.acknowledged(token, rejected.reason);
    }
    /// After a reconnection this publish went again.
    fn sent_again(&mut self, _token: u64) {}
    /// The answer to a SUBSCRIBE: one code per filter.
    fn subscribed(&mut self, _token: u64, _reasons: &[ReasonCode]) {}
    /// The answer to an UNSUBSCRIBE.
    fn unsubscribed(&mut self, _token: u64) {}
    /// The connection that should have answered this SUBSCRIBE or UNSUBSCRIBE is gone.
    fn unanswered(&mut self, _token: u64) {}
}
