//! How a lane's clients come in: dial, CONNECT, SUBSCRIBE, to sleep if they do; a bounded number at a time.

use super::Lane;
use crate::clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use crate::error::SwarmError;
use crate::link::Link;
use crate::sim_client::{SimClient, Stage, subscription_refused};
use lapwing_client::{ClientError, Options};
use lapwing_codec::{SubscribeFiltersBuf, SubscriptionOptions, Version};
use mio::Token;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Clients on their way in at a time: below the backlog of any listener.
const ARRIVING_MAX: usize = 100;

impl Lane {
    /// Brings every client in.
    pub(super) fn connect_all(&mut self) -> Result<(), SwarmError> {
        let began_ns = now_ns();
        let deadline_ns = began_ns + (self.profile.connect_timeout_s * SECOND_NS as f64) as u64;
        let mut dialled = 0;
        while self.ready < self.clients.len() {
            while dialled < self.clients.len() && dialled - self.ready < ARRIVING_MAX {
                self.dial(dialled);
                dialled += 1;
            }
            self.turn(Duration::from_millis(10))?;
            self.flush_dirty();
            self.show();
            if self.board.is_stopped() {
                return Ok(());
            }
            if now_ns() > deadline_ns {
                return Err(self.not_ready());
            }
        }
        self.outcome.ready_after_ns = now_ns() - began_ns;
        self.board.figures(self.number).ready.store(self.ready as u64, Relaxed);
        Ok(())
    }

    fn not_ready(&self) -> SwarmError {
        SwarmError::NotReady {
            ready: self.ready as u64,
            clients: self.clients.len() as u64,
            after_s: self.profile.connect_timeout_s,
        }
    }

    fn dial(&mut self, index: usize) {
        let sources = &self.profile.sources;
        let source = (!sources.is_empty()).then(|| sources[index % sources.len()]);
        let registry = self.poll.registry();
        let link =
            Link::dial(self.target, source).and_then(|mut link| link.register(registry, Token(index)).map(|()| link));
        match link {
            Err(error) => self.lose(index, &self.unreachable(error)),
            Ok(link) => {
                let client = &mut self.clients[index];
                client.link = Some(link);
                client.stage = Stage::Dialling;
                client.dialled_ns = now_ns();
            }
        }
    }

    fn unreachable(&self, source: io::Error) -> ClientError {
        ClientError::Unreachable { address: self.profile.url.clone(), source }
    }

    /// The TCP connection stands, or not.
    pub(super) fn on_dialled(&mut self, index: usize) {
        let Some(link) = &self.clients[index].link else { return };
        match link.established() {
            Ok(false) => {}
            Ok(true) => self.greet(index),
            Err(error) => self.lose(index, &self.unreachable(error)),
        }
    }

    fn greet(&mut self, index: usize) {
        let session_expiry_s = if self.clients[index].subscriber.is_some() { self.profile.session_expiry_s } else { 0 };
        let options = Options {
            client_id: self.clients[index].client_id(&self.plan),
            version: self.profile.version(),
            clean_start: session_expiry_s == 0 || self.profile.version() == Version::V5,
            session_expiry_s,
            keep_alive_s: self.profile.keep_alive_s,
            receive_maximum: self.profile.window,
            ..Options::default()
        };
        let SimClient { link: Some(link), protocol, stage, .. } = &mut self.clients[index] else { return };
        match protocol.connect(&options, now_ns() / MILLISECOND_NS, &mut link.output) {
            Ok(()) => {
                *stage = Stage::Greeting;
                self.touch(index);
            }
            Err(error) => self.lose(index, &error.into()),
        }
    }

    /// Takes the next step of a client that is not ready yet.
    pub(super) fn step_in(&mut self, index: usize) {
        match self.clients[index].stage {
            Stage::Greeted => {
                let took_ns = now_ns() - self.clients[index].dialled_ns;
                self.outcome.connect.record(took_ns);
                self.subscribe(index);
            }
            Stage::Subscribed if self.profile.sleeps() => self.lie_down(index),
            Stage::Subscribed => self.enter(index),
            Stage::LyingDown => self.fall_asleep(index),
            Stage::Refused(reason) => {
                let filter = self.clients[index].subscriber.as_ref().map(|s| self.plan.filter(s.index));
                self.lose(index, &subscription_refused(&filter.unwrap_or_default(), reason));
            }
            _ => {}
        }
    }

    pub(super) fn enter(&mut self, index: usize) {
        self.clients[index].stage = Stage::Ready;
        self.ready += 1;
    }

    fn subscribe(&mut self, index: usize) {
        let SimClient { link: Some(link), protocol, stage, subscriber, .. } = &mut self.clients[index] else { return };
        let Some(subscriber) = subscriber else { return self.enter(index) };
        *stage = Stage::Subscribing;
        let mut filters = SubscribeFiltersBuf::new();
        let asked = filters
            .push(&self.plan.filter(subscriber.index), SubscriptionOptions::new(self.profile.qos()))
            .map_err(ClientError::from)
            .and_then(|()| {
                let sent = protocol.subscribe(filters.as_ref(), None, 0, &mut link.output);
                sent.map_err(|error| ClientError::Invalid(error.to_string()))
            });
        match asked {
            Ok(()) => self.touch(index),
            Err(error) => self.lose(index, &error),
        }
    }
}
