//! What one read brought: gathered without the lock, handed over under it.

use super::settings::LinkOptions;
use super::shared::{Shared, Waiter};
use super::thread::is_passing_refusal;
use super::token::Token;
use crate::error::ClientError;
use crate::events::{Answer, Connected, Events, Rejected};
use crate::message::Message;
use lapwing_codec::{PacketId, Publish, ReasonCode, UserPropertiesBuf};

/// Where a broker asks a consumer how it is; the rest of the topic is the client id.
const PROBE: &str = "$lapwing/probe/";

/// Everything that the broker said in one read.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub session_present: Option<bool>,
    subscribed: Option<Vec<ReasonCode>>,
    /// Probes that want an answer.
    pub probes: Vec<u16>,
    messages: Vec<Message>,
    bytes: usize,
    answers: usize,
    answered_bytes: usize,
    /// Of the answers: those that were a no.
    rejected: usize,
    sent_again: u64,
}

/// Hears, and knows what must be answered at once.
#[derive(Debug)]
pub(crate) struct Listener<'a> {
    pub heard: &'a mut Heard,
    pub shared: &'a Shared,
    pub reports: bool,
    /// Messages, and bytes of them, that there is room for.
    pub room: (usize, usize),
}

impl Events for Listener<'_> {
    fn connected(&mut self, connected: &Connected<'_>) {
        self.heard.session_present = Some(connected.session_present);
        let mut state = self.shared.lock();
        state.count.is_told = connected.tells_publishers;
        // Here, for messages may come in the same read: they are of this session.
        state.connected_to_session(connected.session_present);
    }

    fn message(&mut self, publish: &Publish<'_>) -> Answer {
        match probe(publish).filter(|_| self.reports) {
            Some(number) => self.heard.probes.push(number),
            None => {
                self.heard.bytes += publish.topic.len() + publish.payload.len();
                self.heard.messages.push(Message::from(publish));
            }
        }
        Answer::Later
    }

    fn is_full(&self) -> bool {
        self.heard.messages.len() >= self.room.0 || self.heard.bytes >= self.room.1
    }

    fn repeated(&mut self, id: PacketId) -> Answer {
        let in_this_read = self.heard.messages.iter().any(|message| message.packet_id == Some(id));
        if in_this_read || self.shared.lock().is_pending(id) { Answer::Later } else { Answer::Now }
    }

    fn completing(&mut self) -> UserPropertiesBuf {
        if self.reports { self.shared.lock().figures().properties() } else { UserPropertiesBuf::new() }
    }

    fn acknowledged(&mut self, token: u64, _reason: ReasonCode) {
        self.heard.answers += 1;
        self.heard.answered_bytes += Token(token).cost();
    }

    fn rejected(&mut self, token: u64, rejected: &Rejected<'_>) {
        self.acknowledged(token, rejected.reason);
        self.heard.rejected += 1;
        // Nobody looks at them before the answers are handed over.
        self.shared.lock().reject(Token(token), rejected);
    }

    fn sent_again(&mut self, _token: u64) {
        self.heard.sent_again += 1;
    }

    fn subscribed(&mut self, _token: u64, reasons: &[ReasonCode]) {
        self.heard.subscribed = Some(reasons.to_vec());
    }
}

impl Heard {
    /// Whether SUBACK has come since the last call.
    ///
    /// # Errors
    /// `Rejected`: it refuses a subscription; of several one that ends the link.
    pub fn take_subscribed(&mut self, options: &LinkOptions) -> Result<bool, ClientError> {
        let Some(reasons) = self.subscribed.take() else { return Ok(false) };
        let filters = options.subscribe.iter().flat_map(|subscribe| &subscribe.filters);
        let refused = filters.zip(reasons).filter(|(_, reason)| reason.is_error());
        match refused.min_by_key(|(_, reason)| is_passing_refusal(*reason)) {
            Some((filter, reason)) => {
                Err(ClientError::Rejected { what: format!("subscription to {filter:?}"), reason })
            }
            None => Ok(true),
        }
    }

    /// Hands over what is the caller's, and wakes who waits for it.
    pub fn hand_over(&mut self, shared: &Shared) {
        if self.messages.is_empty() && self.answers == 0 && self.sent_again == 0 {
            return;
        }
        let mut state = shared.lock();
        state.count.sent_again += std::mem::take(&mut self.sent_again);
        if self.answers > 0 {
            state.answered(self.answers, self.answered_bytes, self.rejected);
            (self.answers, self.answered_bytes, self.rejected) = (0, 0, 0);
            shared.tell_room(&mut state);
        }
        self.bytes = 0;
        let arrived = self.messages.len();
        self.messages.drain(..).for_each(|message| state.arrived(message));
        if arrived > 0 {
            shared.wake(Waiter::Messages, arrived > 1);
            shared.tell(&mut state);
        }
    }
}

/// The number of a probe, if `publish` is one.
fn probe(publish: &Publish<'_>) -> Option<u16> {
    publish.topic.strip_prefix(PROBE)?;
    let asked: serde_json::Value = serde_json::from_slice(publish.payload).ok()?;
    asked.get("probe")?.as_u64()?.try_into().ok()
}
