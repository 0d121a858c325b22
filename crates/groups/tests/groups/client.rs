//! One session and the shard that it lives on, as the crate's page wants them: words go to the owner in order, and late.

use std::collections::VecDeque;

use lapwing_codec::QoS;
use lapwing_dispatch::{Declaration, Stamps};
use lapwing_groups::{AssignmentId, Epoch, MemberOptions};

/// What the shard says to the owner of the group.
#[derive(Clone, Debug)]
pub enum Word {
    Join(MemberOptions),
    Lost(Vec<AssignmentId>),
    Back(Declaration),
    Redeclare(Declaration),
    Unsubscribe,
    End(Vec<AssignmentId>),
    Acknowledged(AssignmentId, Stamps),
    Refused(AssignmentId),
    Undeliverable(AssignmentId),
    HandedBack(AssignmentId),
}

/// What the owner says to the shard.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    Send { epoch: Epoch, assignment: Option<AssignmentId>, nth: usize, qos: QoS },
    Kick(Epoch),
}

/// A message that the session has.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub id: AssignmentId,
    pub nth: usize,
    pub qos: QoS,
    pub written_us: Option<u64>,
}

#[derive(Debug)]
pub struct Client {
    pub key: u32,
    pub epoch: Epoch,
    pub options: MemberOptions,
    pub is_connected: bool,
    pub is_subscribed: bool,
    pub has_ended: bool,
    pub orders: VecDeque<Order>,
    pub words: VecDeque<(Epoch, Word)>,
    pub held: Vec<Held>,
}

impl Client {
    /// A new session that subscribes at once.
    pub fn new(key: u32, options: MemberOptions) -> Client {
        Client {
            key,
            epoch: Epoch(1),
            options,
            is_connected: true,
            is_subscribed: true,
            has_ended: false,
            orders: VecDeque::new(),
            words: VecDeque::from([(Epoch(1), Word::Join(options))]),
            held: Vec::new(),
        }
    }

    fn say(&mut self, word: Word) {
        self.words.push_back((self.epoch, word));
    }

    /// The next order arrives.
    pub fn arrive(&mut self) {
        match self.orders.pop_front() {
            Some(Order::Kick(epoch)) if epoch == self.epoch => self.disconnect(),
            Some(Order::Send { epoch, assignment: Some(id), nth, qos }) if epoch == self.epoch && self.is_connected => {
                if self.is_subscribed {
                    self.held.push(Held { id, nth, qos, written_us: None });
                } else {
                    self.say(Word::HandedBack(id));
                }
            }
            _ => {}
        }
    }

    /// The next message that was not yet is written to the socket.
    pub fn write(&mut self, now_us: u64) -> Option<Held> {
        let next = self.held.iter_mut().find(|held| held.written_us.is_none()).filter(|_| self.is_connected)?;
        next.written_us = Some(now_us);
        Some(*next)
    }

    /// The client answers one of the messages that were written to it.
    pub fn answer(&mut self, which: usize, is_refused: bool, now_us: u64) {
        let written: Vec<usize> = (0..self.held.len()).filter(|&at| self.held[at].written_us.is_some()).collect();
        if written.is_empty() || !self.is_connected {
            return;
        }
        let held = self.held.remove(written[which % written.len()]);
        let stamps = Stamps { written_us: held.written_us.unwrap_or(now_us), read_us: now_us };
        self.say(if is_refused { Word::Refused(held.id) } else { Word::Acknowledged(held.id, stamps) });
    }

    /// A message cannot be encoded for this client.
    pub fn cannot_have(&mut self) {
        let next = self.held.iter().position(|held| held.written_us.is_none());
        if let Some(at) = next.filter(|_| self.is_connected) {
            let held = self.held.remove(at);
            self.say(Word::Undeliverable(held.id));
        }
    }

    fn written(&self) -> Vec<AssignmentId> {
        self.held.iter().filter(|held| held.written_us.is_some()).map(|held| held.id).collect()
    }

    pub fn disconnect(&mut self) {
        if self.is_connected && !self.has_ended {
            self.is_connected = false;
            self.say(Word::Lost(self.written()));
            self.held.retain(|held| held.qos == QoS::ExactlyOnce && held.written_us.is_some());
        }
    }

    pub fn come_back(&mut self) {
        if !self.is_connected && !self.has_ended {
            self.epoch = Epoch(self.epoch.0 + 1);
            self.is_connected = true;
            self.say(Word::Back(self.options.declaration));
        }
    }

    /// Clean Start 0: the connection is another one at once.
    pub fn taken_over(&mut self) {
        if self.is_connected {
            self.disconnect();
            self.come_back();
        }
    }

    pub fn subscribe(&mut self, qos_max: QoS) {
        if self.is_connected && !self.has_ended {
            self.is_subscribed = true;
            self.options.qos_max = qos_max;
            self.say(Word::Join(self.options));
        }
    }

    /// It says something else about itself, on the connection that it has.
    pub fn redeclare(&mut self, declaration: Declaration) {
        if self.is_connected && !self.has_ended {
            self.options.declaration = declaration;
            self.say(Word::Redeclare(declaration));
        }
    }

    pub fn unsubscribe(&mut self) {
        if self.is_connected && self.is_subscribed && !self.has_ended {
            self.is_subscribed = false;
            self.say(Word::Unsubscribe);
        }
    }

    pub fn end(&mut self) {
        if !self.has_ended {
            self.has_ended = true;
            self.is_connected = false;
            self.is_subscribed = false;
            self.say(Word::End(self.written()));
            self.held.clear();
        }
    }

    /// Whether the session has the message, or will have when what is under way arrives.
    pub fn has_or_will(&self, nth: usize) -> bool {
        let is_coming = |order: &Order| match *order {
            Order::Send { epoch, assignment, nth: other, .. } => {
                other == nth && assignment.is_some() && epoch == self.epoch && self.is_connected && self.is_subscribed
            }
            Order::Kick(_) => false,
        };
        self.held.iter().any(|held| held.nth == nth) || self.orders.iter().any(is_coming)
    }
}
