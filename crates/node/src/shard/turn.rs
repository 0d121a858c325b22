//! The loop itself: sleep, look what happened, work, hand over.

use std::time::{Duration, Instant};

use super::connections::ConnectionRoom;
use super::durable::DurableRoom;
use super::groups::GroupRoom;
use super::holds::Holds;
use super::mail::MailRoom;
use super::operators::OperatorRoom;
use super::publish::PublishRoom;
use super::retained::RetainedRoom;
use super::rights::RightsRoom;
use super::room::RoomCalls;
use super::verdicts::VerdictRoom;
use super::{CONNECTIONS, Shard};
use crate::error::NodeError;
use crate::life::Phase;
use crate::niceness::come_soon;

/// Longest sleep; a missed wake-up would show as this delay and not as a hang.
pub(super) const SLEEP_MAX: Duration = Duration::from_secs(1);

/// The same while the node drains: where no client is left to wake a shard, it is its next turn that tells that all is done.
const SLEEP_MAX_DRAINING: Duration = Duration::from_millis(20);

/// How long a shard that ends waits for room in the lane to the log, and how often it looks.
const LOG_WAIT_MAX: Duration = Duration::from_secs(5);
const LOG_LOOK: Duration = Duration::from_millis(10);

/// How long a shard waits that may answer nobody, before it looks again.
const UNCONFIRMED_PAUSE: Duration = Duration::from_millis(1);

/// Every room, in the order in which they are asked and hand over: the log first, which takes longest to answer.
const ROOMS: [RoomCalls; 10] = [
    RoomCalls::of::<DurableRoom>(),
    RoomCalls::of::<MailRoom>(),
    RoomCalls::of::<ConnectionRoom>(),
    RoomCalls::of::<RetainedRoom>(),
    RoomCalls::of::<GroupRoom>(),
    RoomCalls::of::<Holds>(),
    RoomCalls::of::<OperatorRoom>(),
    RoomCalls::of::<VerdictRoom>(),
    RoomCalls::of::<RightsRoom>(),
    RoomCalls::of::<PublishRoom>(),
];

impl Shard {
    /// Works until the node stops.
    ///
    /// # Errors
    /// The kernel refuses to watch a listener or to report events.
    pub(crate) fn run(&mut self) -> Result<(), NodeError> {
        self.pin();
        come_soon();
        self.now_ms = self.shared.now_ms();
        self.renew_groups();
        self.restore()?;
        self.renew_topic_rules();
        self.publish_sys();
        loop {
            match self.shared.phase() {
                Phase::Running => {}
                Phase::Draining => self.drain(),
                Phase::Stopping => return self.finish(),
            }
            self.begin_to_listen()?;
            self.wait()?;
            self.note_events();
            if self.shared.may_not_answer() {
                // What has come stays where it is: the node's serving ends, or it goes on in a moment.
                std::thread::sleep(UNCONFIRMED_PAUSE);
                continue;
            }
            self.turn();
        }
    }

    /// Pins this thread to its core, if configured. A refusal (a container's limits) costs speed, not correctness.
    fn pin(&self) {
        if !self.shared.config.pin {
            return;
        }
        if let Some(cores) = core_affinity::get_core_ids().filter(|cores| !cores.is_empty()) {
            let wanted = self.shared.config.pin_first as usize + self.id.index();
            core_affinity::set_for_current(cores[wanted % cores.len()]);
        }
    }

    /// Waits for events: not at all when there is work, spinning a little while there is mail, else asleep.
    fn wait(&mut self) -> Result<(), NodeError> {
        if self.has_work() {
            return self.event_loop.poll(Duration::ZERO);
        }
        if self.mail.moved && self.mail.spinning.is_worth_it() {
            let found = self.spin()?;
            self.mail.spinning.note(found);
            if found {
                return Ok(());
            }
        }
        self.event_loop.prepare();
        // The last look: whoever sends, or takes what we send, from here on sees that we sleep, and wakes us. A receiver
        // that made room before saw us awake, so what waits for room is tried again here.
        self.flush_lanes();
        let timeout = if self.has_work() || self.phase_is_new() {
            Duration::ZERO
        } else {
            self.counters.wakes.add(1);
            self.until_next_timer()
        };
        self.event_loop.sleep(timeout)
    }

    /// True when the loop has not acted on the node's phase yet.
    fn phase_is_new(&self) -> bool {
        match self.shared.phase() {
            Phase::Running => false,
            Phase::Draining => !self.draining,
            Phase::Stopping => true,
        }
    }

    /// Looks for work for a short while; true when some came.
    fn spin(&mut self) -> Result<bool, NodeError> {
        let spin = Duration::from_micros(u64::from(self.shared.config.limits.spin_us));
        let begun = Instant::now();
        while begun.elapsed() < spin {
            self.event_loop.poll(Duration::ZERO)?;
            if self.has_work() || self.event_loop.has_events() {
                return Ok(true);
            }
            std::hint::spin_loop();
        }
        Ok(false)
    }

    fn until_next_timer(&self) -> Duration {
        let now_ms = self.shared.now_ms();
        // None is run before it listens; it is woken for that.
        let timers_at = self.timers.next_at().filter(|_| self.connections.is_listening);
        let next_at = ROOMS.iter().filter_map(|room| (room.next_at_ms)(self)).chain(timers_at).min();
        let next = next_at.map(|at_ms| Duration::from_millis(at_ms.saturating_sub(now_ms)));
        let most = if self.draining { SLEEP_MAX_DRAINING } else { SLEEP_MAX };
        next.map_or(most, |next| next.min(most))
    }

    /// True when a turn would get something done now.
    fn has_work(&mut self) -> bool {
        ROOMS.iter().any(|room| (room.has_work)(self))
    }

    /// Marks what the kernel reported.
    fn note_events(&mut self) {
        for event in self.event_loop.events() {
            let token = event.token();
            if token.0 < CONNECTIONS {
                self.connections.doors.note(token);
                continue;
            }
            let index = token.0 - CONNECTIONS;
            let Some(connection) = self.clients.connection(index) else { continue };
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                connection.readable = true;
                connection.ended |= event.is_read_closed() || event.is_error();
                self.clients.queue_read(index);
            }
            if event.is_writable() {
                self.clients.writable(index);
            }
        }
    }

    fn turn(&mut self) {
        let before_ms = std::mem::replace(&mut self.now_ms, self.shared.now_ms());
        self.clients.now_us = self.shared.now_us();
        if let Some(keeping) = &mut self.clients.keeping {
            keeping.set_clock(self.now_ms);
        }
        if self.now_ms > before_ms {
            self.look_at_memory();
        }
        self.make_retained_room();
        self.counters.turns.add(1);
        self.mail.moved = false;
        self.renew_permissions();
        self.renew_groups();
        self.renew_topic_rules();
        self.run_rechecks();
        self.accept();
        self.end_strangers();
        self.take_shaken();
        self.take_mail();
        self.report_groups();
        self.acknowledge();
        self.take_pages();
        self.serve_operators();
        self.take_verdicts();
        self.resume_paused();
        self.serve_ready();
        self.end_strangers();
        if !self.must_hear_first(before_ms) {
            self.run_timers();
        }
        self.answer_early_rooms();
        self.run_replays();
        self.run_holds();
        self.close_overflowing();
        self.tell_losses();
        self.run_groups();
        self.publish_events();
        self.ask_pages();
        self.tell_log();
        self.flush_lanes();
        self.close_commit_token();
        self.flush_touched();
        self.counters.take_over(&self.clients.counters);
        self.counters.traffic.take_over(&self.clients.sent);
        if self.draining {
            let drained = self.clients.connection_count() == self.connections.lingering && self.is_quiet();
            self.shared.life.set_drained(self.id.index(), drained);
        }
    }

    fn flush_lanes(&mut self) {
        ROOMS.iter().for_each(|room| (room.flush)(self));
    }

    /// Nothing waits to leave this shard.
    fn is_quiet(&mut self) -> bool {
        ROOMS.iter().all(|room| (room.is_settled)(self))
    }

    /// The last turn: what is written already is given to the kernel, the log gets what it was promised.
    fn finish(&mut self) -> Result<(), NodeError> {
        self.connections.doors.close(self.event_loop.registry());
        self.tell_log();
        self.flush_lanes();
        self.flush_touched();
        self.give_log_the_rest()
    }

    /// The lane to the log holds so many batches, and there may be more. The log thread still runs and makes room, unless
    /// its disk is full; what it does not take in time is counted when it has ended.
    fn give_log_the_rest(&mut self) -> Result<(), NodeError> {
        let begun = Instant::now();
        while let Some(log) = &mut self.durable.log
            && !log.is_handed_over()
            && !log.is_disk_full()
            && self.shared.life.failure().is_none()
            && begun.elapsed() < LOG_WAIT_MAX
        {
            self.event_loop.prepare();
            log.flush();
            let timeout = if log.is_handed_over() { Duration::ZERO } else { LOG_LOOK };
            self.event_loop.sleep(timeout)?;
        }
        if let Some(log) = &self.durable.log {
            log.note_end();
        }
        Ok(())
    }
}
