//! One device: its session, which outlives its connections, and what it still has to send.

use crate::link::Link;
use lapwing_client::{Connected, Events, Protocol};
use lapwing_codec::{QoS, ReasonCode};
use std::collections::VecDeque;

/// How far a device's connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// No connection, and none wanted; or waiting for its turn to dial.
    Off,
    /// The TCP connection is being made, since then.
    Dialling { since_ns: u64 },
    /// CONNECT is out, since then.
    Greeting { since_ns: u64 },
    /// Connected.
    Online,
}

/// A message that is due.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub due_ns: u64,
    pub payload: Box<[u8]>,
    pub qos: QoS,
    pub retain: bool,
}

#[derive(Debug)]
pub(super) struct Device {
    pub client_id: String,
    pub topic: String,
    pub link: Option<Link>,
    pub protocol: Protocol,
    pub stage: Stage,
    /// It shall be connected.
    pub wanted: bool,
    /// It goes as soon as everything is sent and answered.
    pub leaving: bool,
    /// The broker refused it for good.
    pub refused: bool,
    /// Its last connection was lost, not given up.
    pub was_lost: bool,
    pub wait_ms: u64,
    /// Due and not sent.
    pub pending: VecDeque<Outgoing>,
    pub dirty: bool,
}

impl Device {
    pub fn new(client_id: String, topic: String, wanted: bool, protocol: Protocol) -> Self {
        Self {
            client_id,
            topic,
            link: None,
            protocol,
            stage: Stage::Off,
            wanted,
            leaving: false,
            refused: false,
            was_lost: false,
            wait_ms: 0,
            pending: VecDeque::new(),
            dirty: false,
        }
    }

    /// Nothing more to send and nothing more to hear about it.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.protocol.unanswered() == 0
    }

    /// True when this can still change without a new task.
    pub fn has_hope(&self) -> bool {
        self.wanted && !self.refused && !self.is_idle()
    }
}

/// What was sent and waits for the broker's answer: when it was due, and its payload's bytes, by token.
#[derive(Debug, Default)]
pub(super) struct Tickets {
    tickets: Vec<(u64, usize)>,
    free: Vec<u64>,
}

impl Tickets {
    pub fn take(&mut self, due_ns: u64, bytes: usize) -> u64 {
        match self.free.pop() {
            Some(token) => {
                self.tickets[token as usize] = (due_ns, bytes);
                token
            }
            None => {
                self.tickets.push((due_ns, bytes));
                self.tickets.len() as u64 - 1
            }
        }
    }

    /// Each token is given back once: by its last answer, or by who took it in vain.
    pub fn give_back(&mut self, token: u64) -> (u64, usize) {
        self.free.push(token);
        self.tickets[token as usize]
    }
}

/// What one read of a device brought.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub connected: bool,
    pub resent: u64,
    pub answers: Vec<(u64, ReasonCode)>,
}

impl Events for Heard {
    fn connected(&mut self, _connected: &Connected<'_>) {
        self.connected = true;
    }

    fn acknowledged(&mut self, token: u64, reason: ReasonCode) {
        self.answers.push((token, reason));
    }

    fn sent_again(&mut self, _token: u64) {
        self.resent += 1;
    }
}
