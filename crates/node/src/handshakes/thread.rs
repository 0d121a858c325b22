//! The life of one of these threads: accept, go on with handshakes in turn, hand over what is done.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::HandshakeRoom;
use super::complaint::Complaint;
use super::crl_watch::CrlWatch;
use super::half::Half;
use super::line::Line;
use super::turns::{HandshakeId, Turns};
use crate::doors::Doors;
use crate::error::NodeError;
use crate::event_loop::EventLoop;
use crate::life::Phase;
use crate::metrics::ShardCounters;
use crate::niceness::give_way;
use crate::shared::Shared;
use crate::strangers::Ending;
use crate::timers::Timers;

/// About a tenth of what a data thread gets where both want the same core: a flood of handshakes takes what is to spare, and a
/// busy broker goes on shaking hands.
const NICE: i32 = 10;
/// A missed wake-up would show as this delay and not as a hang.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// Events of handshakes begin here; below are listeners.
const HANDSHAKES: usize = 1 << 16;
/// How often revocation lists are looked at.
const CRL_LOOK_MS: u64 = 60_000;

/// One thread of the room; [`HandshakeThread::run`] is its life.
pub(crate) struct HandshakeThread {
    pub(super) number: usize,
    /// Of its strangers, in their table: behind the shards.
    pub(super) place: usize,
    pub(super) shared: Arc<Shared>,
    pub(super) room: Arc<HandshakeRoom>,
    pub(super) event_loop: EventLoop,
    pub(super) doors: Doors,
    /// By shard.
    pub(super) lines: Vec<Line>,
    /// The shard that gets the next connection.
    pub(super) next_line: usize,
    pub(super) halves: HashMap<HandshakeId, Half>,
    pub(super) next_id: usize,
    pub(super) turns: Turns,
    pub(super) timers: Timers<HandshakeId>,
    /// Connections as a shard counts them.
    pub(super) counters: Arc<ShardCounters>,
    pub(super) complaint: Complaint,
    pub(super) crl_watch: CrlWatch,
    pub(super) crls_seen_at_ms: Option<u64>,
    pub(super) now_ms: u64,
    pub(super) is_listening: bool,
    pub(super) has_left: bool,
}

impl HandshakeThread {
    pub(super) fn new(
        number: usize,
        shared: Arc<Shared>,
        room: Arc<HandshakeRoom>,
        event_loop: EventLoop,
        doors: Doors,
        lines: Vec<Line>,
    ) -> Self {
        HandshakeThread {
            number,
            place: lines.len() + number,
            shared,
            room,
            event_loop,
            doors,
            // The threads do not all begin with the same shard.
            next_line: number % lines.len().max(1),
            lines,
            halves: HashMap::new(),
            next_id: HANDSHAKES,
            turns: Turns::default(),
            timers: Timers::new(),
            counters: Arc::default(),
            complaint: Complaint::default(),
            crl_watch: CrlWatch::default(),
            crls_seen_at_ms: None,
            now_ms: 0,
            is_listening: false,
            has_left: false,
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// What this thread counts as a shard does: connections taken, refused, ended.
    pub(crate) fn counters(&self) -> Arc<ShardCounters> {
        self.counters.clone()
    }

    /// Works until the node stops.
    ///
    /// # Errors
    /// The kernel refuses to watch a listener or to report events.
    pub(crate) fn run(&mut self) -> Result<(), NodeError> {
        give_way(NICE);
        loop {
            match self.shared.phase() {
                Phase::Running => self.begin_to_listen()?,
                Phase::Draining => self.leave(),
                Phase::Stopping => {
                    self.leave();
                    return Ok(());
                }
            }
            self.wait()?;
            self.note_events();
            self.now_ms = self.shared.now_ms();
            self.accept();
            self.end_strangers();
            self.work();
            self.end_strangers();
            self.run_timers();
            self.look_at_crls();
            self.hand_over();
        }
    }

    /// Once a minute one of the threads looks how long revocation lists hold.
    fn look_at_crls(&mut self) {
        let is_time = self.crls_seen_at_ms.is_none_or(|at_ms| self.now_ms >= at_ms + CRL_LOOK_MS);
        if self.number > 0 || !is_time {
            return;
        }
        self.crls_seen_at_ms = Some(self.now_ms);
        for listener in self.shared.listeners().iter() {
            let Some((end, file)) = listener.revocations_end() else { continue };
            if let Some(line) = self.crl_watch.look(&listener.url, end, &file, SystemTime::now()) {
                self.shared.notify(line);
            }
        }
    }

    /// As on the shards: clients may come once all that was kept is back.
    fn begin_to_listen(&mut self) -> Result<(), NodeError> {
        if self.is_listening || !self.shared.is_restored() {
            return Ok(());
        }
        self.is_listening = true;
        self.doors.open(self.event_loop.registry())
    }

    /// Takes no one any more: who has not got as far as MQTT can be told nothing there.
    fn leave(&mut self) {
        if std::mem::replace(&mut self.has_left, true) {
            return;
        }
        self.doors.close(self.event_loop.registry());
        let halves: Vec<HandshakeId> = self.halves.keys().copied().collect();
        for id in halves {
            self.forget(id);
        }
    }

    fn wait(&mut self) -> Result<(), NodeError> {
        if self.has_work() {
            return self.event_loop.poll(Duration::ZERO);
        }
        self.event_loop.prepare();
        // What had no room at a shard is tried again here: it rings when it has taken something.
        self.hand_over();
        let timeout = if self.has_work() { Duration::ZERO } else { self.until_next_timer() };
        self.event_loop.sleep(timeout)
    }

    fn has_work(&self) -> bool {
        let phase_is_new = match self.shared.phase() {
            Phase::Running => !self.is_listening && self.shared.is_restored(),
            Phase::Draining => !self.has_left,
            Phase::Stopping => true,
        };
        let has_ended = self.shared.strangers.has_ended(self.place);
        phase_is_new || has_ended || !self.turns.is_empty() || self.doors.are_open(self.now_ms)
    }

    fn until_next_timer(&self) -> Duration {
        let now_ms = self.shared.now_ms();
        let next_ms = self.doors.next_at().into_iter().chain(self.timers.next_at()).min();
        next_ms.map_or(SLEEP_MAX, |at_ms| Duration::from_millis(at_ms.saturating_sub(now_ms)).min(SLEEP_MAX))
    }

    /// Marks what the kernel reported.
    fn note_events(&mut self) {
        let mut gone = Vec::new();
        for event in self.event_loop.events() {
            let token = event.token();
            if token.0 < HANDSHAKES {
                self.doors.note(token);
                continue;
            }
            let id = HandshakeId(token.0);
            let Some(half) = self.halves.get_mut(&id) else { continue };
            let has_ended = event.is_read_closed() || event.is_error();
            if has_ended && !half.has_begun {
                // Whoever does not wait for our answer cannot finish: it is not worth a signature.
                gone.push(id);
            } else if event.is_readable() || has_ended || (event.is_writable() && half.socket.has_unsent()) {
                half.queue(id, &mut self.turns, self.now_ms);
            }
        }
        for id in gone {
            self.counters.closes_network.add(1);
            self.forget(id);
        }
    }

    fn run_timers(&mut self) {
        while let Some((_, id)) = self.timers.due(self.now_ms) {
            let Some(half) = self.halves.get(&id) else { continue };
            let is_leaving = half.is_leaving();
            if !is_leaving {
                self.tell_end(id, Ending::Late);
            }
            self.forget(id);
            if is_leaving {
                self.counters.limits.linger_cut.add(1);
            } else {
                self.counters.closes_connect_timeout.add(1);
            }
        }
        if self.timers.is_full() {
            self.timers.retain(|_, id| self.halves.contains_key(id));
        }
    }

    fn hand_over(&mut self) {
        self.lines.iter_mut().for_each(|line| line.flush());
    }
}
