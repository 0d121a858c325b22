//! How devices come and go: dial, CONNECT, reconnect with patience, leave, drop.

use super::device::{Device, Stage};
use super::lane::Lane;
use super::task::Action;
use crate::clock::{MILLISECOND_NS, now_ns};
use crate::link::{Link, Target};
use lapwing_client::{ClientError, Options};
use lapwing_codec::ReasonCode;
use mio::Token;
use std::cmp::Reverse;
use std::io;

/// Connections being made at a time: below the backlog of any listener.
const ARRIVING_MAX: usize = 100;

impl Lane {
    pub(super) fn come_or_go(&mut self, index: usize, action: &Action) {
        match action {
            Action::Join => {
                let device = &mut self.devices[index];
                (device.wanted, device.leaving, device.refused) = (true, false, false);
                self.wants_to_dial(index);
            }
            Action::Leave => {
                self.devices[index].leaving = true;
                self.leave_if_done(index);
            }
            Action::Drop => {
                self.devices[index].wanted = false;
                self.report.counts.drops += u64::from(self.devices[index].link.is_some());
                self.hang_up(index);
            }
            Action::Publish { .. } => {}
        }
    }

    pub(super) fn wants_to_dial(&mut self, index: usize) {
        let device = &self.devices[index];
        // It may stand in the line twice; the second time it is not `Off` any more.
        if device.wanted && device.stage == Stage::Off {
            self.to_dial.push_back(index);
        }
    }

    /// Dials who waits, a bounded number at a time; whose patience is over stands in the line again.
    pub(super) fn dial_some(&mut self) {
        let now = now_ns();
        while self.redials.peek().is_some_and(|Reverse((due_ns, _))| *due_ns <= now) {
            let Some(Reverse((_, index))) = self.redials.pop() else { break };
            self.wants_to_dial(index);
        }
        while self.arriving < ARRIVING_MAX {
            let Some(index) = self.to_dial.pop_front() else { return };
            if self.devices[index].wanted && self.devices[index].stage == Stage::Off {
                self.dial(index);
            }
        }
    }

    fn dial(&mut self, index: usize) {
        let registry = self.poll.registry();
        let link = Link::dial(Target { address: self.address, is_sn: false }, None)
            .and_then(|mut link| link.register(registry, Token(index)).map(|()| link));
        match link {
            Ok(link) => {
                self.arriving += 1;
                let device = &mut self.devices[index];
                device.link = Some(link);
                device.stage = Stage::Dialling { since_ns: now_ns() };
            }
            Err(error) => self.lose(index, &self.unreachable(error)),
        }
    }

    fn unreachable(&self, source: io::Error) -> ClientError {
        ClientError::Unreachable { address: self.config.url.clone(), source }
    }

    pub(super) fn on_dialled(&mut self, index: usize) {
        let Some(link) = &self.devices[index].link else { return };
        match link.established() {
            Ok(false) => {}
            Ok(true) => self.greet(index),
            Err(error) => self.lose(index, &self.unreachable(error)),
        }
    }

    fn greet(&mut self, index: usize) {
        let config = &self.config;
        let options = Options {
            client_id: self.devices[index].client_id.clone(),
            version: config.version(),
            clean_start: false,
            session_expiry_s: config.session_expiry_s,
            keep_alive_s: config.keep_alive_s,
            username: config.username.clone(),
            password: config.password.as_ref().map(|password| password.clone().into_bytes()),
            ..Options::default()
        };
        let Device { link: Some(link), protocol, stage, .. } = &mut self.devices[index] else { return };
        match protocol.connect(&options, now_ns() / MILLISECOND_NS, &mut link.output) {
            Ok(()) => {
                *stage = Stage::Greeting { since_ns: now_ns() };
                self.touch(index);
            }
            Err(error) => self.lose(index, &error.into()),
        }
    }

    pub(super) fn on_connected(&mut self, index: usize) {
        self.arriving -= 1;
        let device = &mut self.devices[index];
        (device.stage, device.wait_ms) = (Stage::Online, 0);
        self.report.counts.connects += 1;
        self.report.counts.reconnects += u64::from(std::mem::take(&mut device.was_lost));
        self.report.counts.online += 1;
    }

    /// A connection is over, or could not be made: counted, and tried again unless that is hopeless.
    pub(super) fn lose(&mut self, index: usize, error: &ClientError) {
        self.count_error(error.label());
        let was_online = self.devices[index].stage == Stage::Online;
        self.hang_up(index);
        let device = &mut self.devices[index];
        if !device.wanted {
            return;
        }
        device.was_lost |= was_online;
        if !error.is_temporary() {
            (device.refused, device.wanted) = (true, false);
            self.report.counts.refused += 1;
            return;
        }
        let first_ms = self.config.reconnect_first_ms;
        device.wait_ms = (device.wait_ms * 2).clamp(first_ms, self.config.reconnect_max_ms.max(first_ms));
        // Between half and all of it, so that a fleet does not come back in one blow.
        let wait_ns = device.wait_ms * MILLISECOND_NS;
        let jitter_ns = self.random.below(wait_ns / 2 + 1);
        self.redials.push(Reverse((now_ns() + wait_ns - jitter_ns, index)));
    }

    /// Closes the connection, if there is one; the session stays.
    fn hang_up(&mut self, index: usize) {
        let device = &mut self.devices[index];
        device.link = None;
        device.protocol.lost();
        match std::mem::replace(&mut device.stage, Stage::Off) {
            Stage::Off => {}
            Stage::Online => self.report.counts.online -= 1,
            Stage::Dialling { .. } | Stage::Greeting { .. } => self.arriving -= 1,
        }
    }

    /// A device that leaves goes when everything is sent and answered.
    pub(super) fn leave_if_done(&mut self, index: usize) {
        let device = &mut self.devices[index];
        if !device.leaving || !device.is_idle() {
            return;
        }
        (device.leaving, device.wanted) = (false, false);
        if let Device { link: Some(link), protocol, stage: Stage::Online, .. } = device {
            self.report.counts.leaves += 1;
            if protocol.disconnect(ReasonCode::Success, None, &mut link.output).is_ok() {
                // What a full socket does not take is lost with the connection: the broker then sees a drop.
                let _ = link.flush();
            }
        }
        self.hang_up(index);
    }
}
