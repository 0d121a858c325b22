//! How a lane publishes: by the schedule (open loop), or as fast as window and socket allow (closed loop).

use super::Lane;
use super::credit::{Copies, Credit};
use crate::clock::{SECOND_NS, now_ns};
use crate::error::SwarmError;
use crate::profile::Profile;
use crate::schedule::{Due, Schedule};
use crate::sim_client::{SimClient, Stage};
use crate::stamp::Stamp;
use lapwing_client::SendError;
use lapwing_codec::{Publish, PublishProperties};

/// Open loop: bytes that may wait for a full socket before messages are held back.
const BACKLOG_BYTES_MAX: usize = 256 << 10;
/// Open loop: messages per turn, so that arrivals are read in between.
const DUE_PER_TURN: usize = 256;
/// Closed loop: messages of all publishers per turn, about.
const FILL_PER_TURN: usize = 512;

/// What decides when a message goes.
#[derive(Debug)]
pub(super) enum Pace {
    Open(Schedule),
    Closed { seconds: f64, until_ns: u64 },
}

impl Pace {
    pub fn new(profile: &Profile, lane: u32) -> Self {
        let Profile { rate, seconds, seed, publishers, .. } = *profile;
        if profile.is_closed_loop() {
            return Self::Closed { seconds, until_ns: u64::MAX };
        }
        Self::Open(Schedule::new(publishers, lane, profile.lanes(), rate, seconds, seed))
    }
}

impl Lane {
    /// Publishes until the schedule or the time is over. What is held back then still goes, during the drain.
    pub(super) fn publish_all(&mut self, start_ns: u64) -> Result<(), SwarmError> {
        match &mut self.pace {
            Pace::Open(_) => self.publish_open(start_ns),
            Pace::Closed { seconds, until_ns } => {
                *until_ns = start_ns + (*seconds * SECOND_NS as f64) as u64;
                let until_ns = *until_ns;
                self.publish_closed(until_ns)
            }
        }
    }

    fn publish_open(&mut self, start_ns: u64) -> Result<(), SwarmError> {
        while !self.board.is_cancelled() {
            let Some(next_ns) = self.send_due(start_ns) else { return Ok(()) };
            self.do_work();
            self.flush_dirty();
            self.turn(self.patience(next_ns))?;
            self.do_work();
            self.flush_dirty();
            self.show();
        }
        Ok(())
    }

    /// Sends what is due, as much as a turn may take; gives the time of the next, `None` at the end.
    fn send_due(&mut self, start_ns: u64) -> Option<u64> {
        let mut now = now_ns();
        for count in 0..DUE_PER_TURN {
            let Pace::Open(schedule) = &mut self.pace else { return None };
            let due = schedule.peek()?;
            let due_ns = start_ns + due.after_ns;
            if due_ns > now {
                return Some(due_ns);
            }
            schedule.advance();
            if count % 16 == 15 {
                now = now_ns();
            }
            self.send_or_hold(due, due_ns, now);
        }
        Some(0)
    }

    #[inline]
    fn send_or_hold(&mut self, due: Due, due_ns: u64, now: u64) {
        let index = self.publishers[due.publisher];
        let can_send = self.can_send(index);
        let Some(publisher) = &mut self.clients[index].publisher else { return };
        publisher.due = due.serial + 1;
        self.due += 1;
        // Of every message, also of one that finds no room: after a pause of the generator's own all but a window find none.
        self.outcome.late.record(now.saturating_sub(due_ns));
        if publisher.sent == due.serial && can_send {
            self.send(index, due_ns, now);
        } else if self.clients[index].stage == Stage::Ready {
            self.outcome.held += 1;
        }
    }

    fn publish_closed(&mut self, until_ns: u64) -> Result<(), SwarmError> {
        self.credit = Credit::begin(now_ns());
        (0..self.clients.len()).for_each(|index| self.wants_to_publish(index));
        while now_ns() < until_ns && !self.board.is_cancelled() {
            self.do_work();
            self.flush_dirty();
            self.turn(self.patience(until_ns))?;
            self.flush_dirty();
            self.show();
            self.give_up();
        }
        self.pace = Pace::Closed { seconds: 0.0, until_ns: 0 };
        Ok(())
    }

    /// Remembers that a publisher may have something to send and room for it.
    pub(super) fn wants_to_publish(&mut self, index: usize) {
        let closed = matches!(self.pace, Pace::Closed { until_ns, .. } if until_ns > 0);
        let client = &mut self.clients[index];
        let Some(publisher) = &client.publisher else { return };
        if !client.queued && (closed || publisher.sent < publisher.due) {
            client.queued = true;
            self.work.push_back(index);
        }
    }

    /// After a flush: remembers a publisher whose messages were held back and that has room now.
    #[inline]
    pub(super) fn wants_to_go_on(&mut self, index: usize) {
        let is_held = self.clients[index].publisher.as_ref().is_some_and(|publisher| publisher.sent < publisher.due);
        if is_held && self.can_send(index) {
            self.wants_to_publish(index);
        }
    }

    /// Lets every publisher that waited send what it may.
    pub(super) fn do_work(&mut self) {
        let quota = (FILL_PER_TURN / self.publishers.len().max(1)).clamp(8, FILL_PER_TURN);
        for _ in 0..self.work.len() {
            let Some(index) = self.work.pop_front() else { return };
            self.clients[index].queued = false;
            match self.pace {
                Pace::Open(_) => self.send_held(index),
                Pace::Closed { until_ns: 0, .. } => {}
                Pace::Closed { .. } => match self.credit() {
                    0 => return self.wants_to_publish(index),
                    credit => self.send_some(index, quota.min(usize::try_from(credit).unwrap_or(quota))),
                },
            }
        }
    }

    /// Closed loop: how many messages may go now. QoS 1 and 2 have their windows; at QoS 0 the window counts what has
    /// not arrived, or the sockets' buffers would be the window. Nobody listening, or listening elsewhere: no limit.
    pub(super) fn credit(&self) -> u64 {
        let copies = u64::from(self.plan.copies());
        if self.profile.qos > 0 || copies == 0 || self.profile.workers > 1 {
            return u64::MAX;
        }
        let publishers =
            if self.plan.is_local() { self.publishers.len() as u64 } else { self.plan.publishers().into() };
        let window = u64::from(self.profile.window) * publishers;
        self.credit.messages(self.copies(), copies, window)
    }

    /// What messages sent so far bring about: of this lane, where it hears all that it sends, else of all.
    fn copies(&self) -> Copies {
        let (expected, passed) =
            if self.plan.is_local() { (self.outcome.expected, self.passed) } else { self.board.copies() };
        Copies { expected, passed }
    }

    /// Gives up what has not arrived when nothing has for a while.
    fn give_up(&mut self) {
        let (copies, has_credit) = (self.copies(), self.credit() > 0);
        self.credit.look(copies, has_credit, now_ns(), self.outcome.last_heard_ns);
    }

    fn send_held(&mut self, index: usize) {
        while self.can_send(index) {
            let (Some(publisher), Pace::Open(schedule)) = (&self.clients[index].publisher, &self.pace) else { return };
            if publisher.sent >= publisher.due {
                return;
            }
            let place = publisher.index / self.profile.lanes();
            let due_ns = self.outcome.started_ns + schedule.due_of(place as usize, publisher.sent);
            self.send(index, due_ns, now_ns());
        }
    }

    fn send_some(&mut self, index: usize, quota: usize) {
        let now = now_ns();
        for _ in 0..quota {
            if !self.can_send(index) {
                return;
            }
            self.send(index, now, now);
        }
        self.wants_to_publish(index);
    }

    #[inline]
    fn can_send(&self, index: usize) -> bool {
        let client = &self.clients[index];
        let Some(link) = &client.link else { return false };
        let socket = match self.pace {
            Pace::Open(_) => link.backlog() < BACKLOG_BYTES_MAX,
            Pace::Closed { .. } => !link.is_full(),
        };
        client.stage == Stage::Ready && socket && (self.profile.qos == 0 || client.protocol.room() > 0)
    }

    #[inline]
    fn send(&mut self, index: usize, due_ns: u64, now: u64) {
        let SimClient { link: Some(link), protocol, publisher: Some(publisher), .. } = &mut self.clients[index] else {
            return;
        };
        Stamp { publisher: publisher.index, serial: publisher.sent, due_ns }.write(&mut self.payload);
        let publish = Publish {
            dup: false,
            qos: self.profile.qos(),
            retain: false,
            topic: &publisher.topic,
            packet_id: None,
            properties: PublishProperties::default(),
            payload: &self.payload,
        };
        match protocol.publish(publish, due_ns, &mut link.output) {
            Ok(()) => {
                publisher.sent += 1;
                self.outcome.sent += 1;
                self.outcome.expected += u64::from(self.plan.copies());
                self.outcome.last_sent_ns = now;
                self.touch(index);
            }
            // `can_send` was asked; what is left is what the broker does not take or MQTT cannot say.
            Err(error) => self.refuse(index, &error),
        }
    }

    #[cold]
    fn refuse(&mut self, index: usize, error: &SendError) {
        self.outcome.count_error(format!("cannot publish: {error}"));
        self.clients[index].stage = Stage::Gone;
    }

    /// True while the schedule goes on.
    pub(super) fn is_publishing(&self) -> bool {
        match &self.pace {
            Pace::Closed { until_ns, .. } => *until_ns > 0,
            Pace::Open(schedule) => !self.board.is_cancelled() && schedule.peek().is_some(),
        }
    }

    /// What was due and never went.
    pub(super) fn count_unsent(&mut self) {
        self.outcome.unsent = self.waiting();
    }

    /// Messages that are due and not sent.
    pub(super) fn waiting(&self) -> u64 {
        self.due.saturating_sub(self.outcome.sent)
    }
}
