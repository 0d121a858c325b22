//! What the link's thread does to the state.

use super::publication::Publication;
use super::state::{Phase, State};
use super::token::Token;
use super::waiting::Arrived;
use crate::events::Rejected;
use crate::message::Message;
use lapwing_codec::{PacketId, QoS, ReasonCode};

impl State {
    /// CONNACK came.
    pub fn connected_to_session(&mut self, session_present: bool) {
        let aside = std::mem::take(&mut self.aside);
        if session_present {
            // They come again, here or at another member of the group.
            self.count.returned += aside.len() as u64;
        } else {
            // The broker may have lost them with the session: rather twice than never.
            self.waiting.put_back(aside);
            self.session += 1;
            self.pending.clear();
        }
        // From here on answers are sent: messages may come before SUBACK.
        if self.phase == Phase::Away {
            self.phase = Phase::Up;
        }
    }

    /// The subscription stands.
    pub fn connected(&mut self) {
        self.phase = Phase::Up;
        self.count.connections += 1;
        self.declaration_due = self.declaration.is_some();
        self.report_due |= self.reports && self.waiting.is_high();
    }

    /// The connection is gone: messages of QoS 1 that nobody has begun wait until it is known whether they come again.
    pub fn lost(&mut self) {
        self.epoch += 1;
        self.in_wire = false;
        self.done.clear();
        if self.phase == Phase::Up {
            self.phase = Phase::Away;
        }
        let was_high = self.waiting.is_high();
        self.aside.append(&mut self.waiting.take_out(|message| message.qos == QoS::AtLeastOnce));
        self.note_mark(was_high);
    }

    pub fn arrived(&mut self, message: Message) {
        if self.draining || (message.qos == QoS::AtMostOnce && self.waiting.is_overfull()) {
            self.count.dropped += u64::from(message.qos == QoS::AtMostOnce);
            return;
        }
        self.count.received += 1;
        if let (QoS::ExactlyOnce, Some(id)) = (message.qos, message.packet_id) {
            self.pending.insert(id);
        }
        let was_high = self.waiting.is_high();
        self.waiting.push(Arrived { message, epoch: self.epoch, session: self.session });
        self.note_mark(was_high);
    }

    pub fn is_pending(&self, id: PacketId) -> bool {
        self.pending.contains(&id) || self.draining
    }

    /// Whether it has never been connected and subscribed.
    pub fn is_starting(&self) -> bool {
        self.phase == Phase::Starting
    }

    /// The socket is not to be read, unless answers to publishes are due, which would otherwise never come.
    pub fn is_paused(&self) -> bool {
        self.waiting.is_high() && !self.awaits_answers()
    }

    /// Whether the thread, asleep, has something to do.
    pub fn is_due(&self) -> bool {
        self.is_due_besides_publications() || !self.outbox.is_empty() || self.paused && !self.is_paused()
    }

    /// The same, without what may have to wait for the window.
    pub fn is_due_besides_publications(&self) -> bool {
        !self.done.is_empty() || self.report_due || self.declaration_due
    }

    /// Messages and bytes that may be taken from the socket before it is paused.
    pub fn room_to_receive(&self) -> (usize, usize) {
        if self.awaits_answers() { (usize::MAX, usize::MAX) } else { self.waiting.room() }
    }

    /// Moves publications to `into`: those of QoS 1 and 2 as far as `room` goes, until `bytes` are reached.
    pub fn fetch(&mut self, into: &mut Vec<Publication>, mut room: u16, bytes: usize) {
        let mut moved = 0;
        while moved < bytes {
            match self.outbox.front() {
                Some(first) if first.qos != QoS::AtMostOnce && room == 0 => return,
                None => return,
                Some(_) => {}
            }
            let Some(publication) = self.outbox.pop_front() else { return };
            self.in_wire = true;
            moved += publication.cost();
            if publication.qos == QoS::AtMostOnce {
                self.bytes -= publication.cost();
            } else {
                room -= 1;
                self.unanswered += 1;
            }
            into.push(publication);
        }
    }

    /// Whether `fetch` would move anything.
    pub fn can_fetch(&self, room: u16) -> bool {
        self.outbox.front().is_some_and(|first| room > 0 || first.qos == QoS::AtMostOnce)
    }

    /// The number of the publication that `fetch` moves next.
    pub fn next_number(&self) -> u64 {
        self.count.published - self.outbox.len() as u64 + 1
    }

    /// The broker's last word on `count` publishes that cost `bytes`; `rejected` of them have been noted as such.
    pub fn answered(&mut self, count: usize, bytes: usize, rejected: usize) {
        self.unanswered -= count;
        self.bytes -= bytes;
        self.count.acknowledged += (count - rejected) as u64;
    }

    /// A publication that could not be sent, and why.
    pub fn never_sent(&mut self, token: Token, publication: &Publication, words: &str) {
        if publication.qos != QoS::AtMostOnce {
            self.unanswered -= 1;
            self.bytes -= publication.cost();
        }
        let reason = ReasonCode::ImplementationSpecificError;
        self.reject(token, &Rejected { topic: Some(&publication.topic), reason, words: Some(words) });
    }

    /// A publication that came to nothing.
    pub fn reject(&mut self, token: Token, rejected: &Rejected<'_>) {
        self.count.rejected += 1;
        self.rejections.push(token.number(self.count.published), rejected);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Acknowledge, LinkOptions, Marks, SendLimits};
    use crate::options::Options;
    use std::time::{Duration, Instant};

    fn state() -> State {
        State::new(&LinkOptions {
            url: String::new(),
            connect: Options::default(),
            subscribe: None,
            ends_session: true,
            acknowledge: Acknowledge::Processed,
            receive: Marks { high_messages: 2, low_messages: 1, high_bytes: 1 },
            send: SendLimits { window: 1, messages_max: 10, bytes_max: 1 },
            reports: None,
            declaration: None,
            connect_timeout: Duration::ZERO,
            back_off_first: Duration::ZERO,
            back_off_longest: Duration::ZERO,
        })
    }

    /// Does an expiry run from when its message is handed over, and not from when its turn comes?
    #[test]
    fn an_expiry_begins_when_a_message_is_handed_over() {
        let (mut state, mut fetched, begun) = (state(), Vec::new(), Instant::now());
        state.publish(Publication { message_expiry_s: Some(1), ..Publication::default() });
        state.publish(Publication::default());
        let handed_over = Instant::now();
        state.fetch(&mut fetched, 1, usize::MAX);
        assert!(fetched[0].since.is_some_and(|since| begun <= since && since <= handed_over));
        assert_eq!(fetched[1].since, None, "the clock is not asked for nothing");
    }
}
