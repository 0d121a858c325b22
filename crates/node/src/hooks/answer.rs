//! What a hook answers.

use std::fmt;

use lapwing_codec::{
    Ack, ConnAck, ConnAckProperties, Packet, PacketId, ReasonCode, ReasonProperties, SubAck, SubscriptionOptions,
    Version,
};

use super::{HookMessage, HookName};

/// The answer to one call.
#[derive(Clone, PartialEq, Eq)]
pub enum HookAnswer {
    /// No objection. The answer to every observation.
    Pass,
    /// No, and why. Words are for people; they reach a 5.0 client where its packet has a place for them.
    Refuse {
        /// An error code that belongs into the packet that answers: CONNACK, SUBACK, PUBACK.
        reason: ReasonCode,
        /// Words for people.
        text: Option<Box<str>>,
    },
    /// `on_connect`: let it in, as this identity; `None`: as it is, even where anonymous clients may not come in.
    Admit(Option<Box<str>>),
    /// `on_publish`: this message instead.
    Change(Box<HookMessage>),
    /// `on_subscribe`: these options instead, of a QoS that is not higher than asked for.
    Grant(SubscriptionOptions),
    /// `on_auth`: the client has to take another step.
    Continue(Option<Box<[u8]>>),
    /// `on_auth`: the client is who it says.
    Success {
        /// Authentication Data to go with it.
        data: Option<Box<[u8]>>,
        /// Who it is.
        identity: Option<Box<str>>,
    },
    /// This call failed: it meets the declared policy.
    Failed,
}

/// None of a batch's calls could be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct HookFailure {
    /// What went wrong, for the operator.
    pub what: String,
}

impl HookAnswer {
    /// Whether `hook` can be answered so; what it answers otherwise is a failure.
    pub(crate) fn suits(&self, hook: HookName) -> bool {
        match self {
            HookAnswer::Failed => true,
            HookAnswer::Pass => hook != HookName::Auth,
            HookAnswer::Refuse { reason, .. } => may_refuse(*reason, hook),
            HookAnswer::Admit(_) => hook == HookName::Connect,
            HookAnswer::Change(_) => hook == HookName::Publish,
            HookAnswer::Grant(_) => hook == HookName::Subscribe,
            HookAnswer::Continue(_) | HookAnswer::Success { .. } => hook == HookName::Auth,
        }
    }
}

/// Whether `reason` is an error that may stand in the packet that answers what `hook` judges; the codec knows the tables.
fn may_refuse(reason: ReasonCode, hook: HookName) -> bool {
    let reasons = [reason];
    let packet_id = PacketId::MIN;
    let packet = match hook {
        HookName::Connect | HookName::Auth => {
            Packet::ConnAck(ConnAck { session_present: false, reason, properties: ConnAckProperties::default() })
        }
        HookName::Subscribe => {
            Packet::SubAck(SubAck { packet_id, properties: ReasonProperties::EMPTY, reasons: &reasons })
        }
        _ => Packet::PubAck(Ack::new(packet_id, reason)),
    };
    hook.decides() && reason.is_error() && packet.encode(Version::V5, &mut Vec::new()).is_ok()
}

impl fmt::Debug for HookAnswer {
    /// Without authentication data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookAnswer::Pass => f.write_str("Pass"),
            HookAnswer::Refuse { reason, text } => {
                f.debug_struct("Refuse").field("reason", reason).field("text", text).finish()
            }
            HookAnswer::Admit(identity) => f.debug_tuple("Admit").field(identity).finish(),
            HookAnswer::Change(message) => f.debug_tuple("Change").field(message).finish(),
            HookAnswer::Grant(options) => f.debug_tuple("Grant").field(options).finish(),
            HookAnswer::Continue(_) => f.write_str("Continue"),
            HookAnswer::Success { identity, .. } => {
                f.debug_struct("Success").field("identity", identity).finish_non_exhaustive()
            }
            HookAnswer::Failed => f.write_str("Failed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a reason refused that the answering packet could not carry (and encoding it would be our defect)?
    #[test]
    fn a_refusal_must_fit_its_packet() {
        use HookName::{Connect, Connected, Publish, Subscribe};
        for (reason, hook, suits) in [
            (ReasonCode::NotAuthorized, Publish, true),
            (ReasonCode::PayloadFormatInvalid, Publish, true),
            (ReasonCode::Banned, Publish, false),
            (ReasonCode::Banned, Connect, true),
            (ReasonCode::Success, Connect, false),
            (ReasonCode::TopicFilterInvalid, Subscribe, true),
            (ReasonCode::GrantedQoS1, Subscribe, false),
            (ReasonCode::NoMatchingSubscribers, Publish, false),
            (ReasonCode::NotAuthorized, Connected, false),
        ] {
            assert_eq!(HookAnswer::Refuse { reason, text: None }.suits(hook), suits, "{reason:?} {hook:?}");
        }
        assert!(!HookAnswer::Pass.suits(HookName::Auth), "silence is no authentication");
    }
}
