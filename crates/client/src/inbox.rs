//! What the blocking client has heard and its caller has not asked for yet.

use crate::events::{Answer, Connected, Events};
use crate::message::Message;
use lapwing_codec::{Publish, ReasonCode};
use std::collections::{HashMap, VecDeque};

/// QoS 0 messages held for a caller that does not take them; the next ones are dropped and counted.
///
/// QoS 1 and 2 are bounded by our Receive Maximum, because they are acknowledged when they are taken.
const QOS0_MESSAGES_MAX: usize = 65_536;

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub messages: VecDeque<Message>,
    /// QoS 0 messages dropped because `messages` was full.
    pub dropped: u64,
    pub session_present: bool,
    pub assigned_client_id: Option<String>,
    /// Refused publishes, by token.
    pub refused: HashMap<u64, ReasonCode>,
    /// Answers to SUBSCRIBE (codes) and UNSUBSCRIBE (none), by token.
    pub answers: HashMap<u64, Vec<ReasonCode>>,
}

impl Events for Inbox {
    fn connected(&mut self, connected: &Connected<'_>) {
        self.session_present = connected.session_present;
        self.assigned_client_id = connected.assigned_client_id.map(str::to_owned);
    }

    fn message(&mut self, publish: &Publish<'_>) -> Answer {
        if publish.packet_id.is_none() && self.messages.len() >= QOS0_MESSAGES_MAX {
            self.dropped += 1;
        } else {
            self.messages.push_back(Message::from(publish));
        }
        Answer::Later
    }

    fn acknowledged(&mut self, token: u64, reason: ReasonCode) {
        if reason.is_error() {
            self.refused.insert(token, reason);
        }
    }

    fn subscribed(&mut self, token: u64, reasons: &[ReasonCode]) {
        self.answers.insert(token, reasons.to_vec());
    }

    fn unsubscribed(&mut self, token: u64) {
        self.answers.insert(token, Vec::new());
    }
}
