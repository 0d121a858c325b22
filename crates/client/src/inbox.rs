//! What the blocking client has heard and its caller has not asked for yet.

use crate::events::{Answer, Connected, Events, Rejected};
use crate::message::Message;
use crate::rejections::Rejections;
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
    /// Publishes that were refused since the last flush.
    pub rejections: Rejections,
    /// Where those of QoS 1 and 2 since the last flush went to.
    pub topics: Topics,
    /// Answers to SUBSCRIBE (codes) and UNSUBSCRIBE (none), by token.
    pub answers: HashMap<u64, Vec<ReasonCode>>,
}

/// The packets are not kept here. Where all went to one topic, as from a command line, it is known all the same.
#[derive(Debug, Default)]
pub(crate) enum Topics {
    #[default]
    None,
    One(String),
    Several,
}

impl Topics {
    pub fn note(&mut self, topic: &str) {
        match self {
            Self::None => *self = Self::One(topic.to_owned()),
            Self::One(known) if known != topic => *self = Self::Several,
            _ => {}
        }
    }

    fn only(&self) -> Option<&str> {
        if let Self::One(topic) = self { Some(topic) } else { None }
    }
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

    fn rejected(&mut self, token: u64, rejected: &Rejected<'_>) {
        let topic = self.topics.only();
        self.rejections.push(token, &Rejected { topic, ..*rejected });
    }

    fn subscribed(&mut self, token: u64, reasons: &[ReasonCode]) {
        self.answers.insert(token, reasons.to_vec());
    }

    fn unsubscribed(&mut self, token: u64) {
        self.answers.insert(token, Vec::new());
    }
}
