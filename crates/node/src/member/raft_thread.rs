//! The one thread that decides for a member: frames, ticks, the disk's words and what shards hand over go in; writes, frames and
//! what is committed come out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use lapwing_cluster::{Ending, Entry, Role, Step};
use lapwing_peer::{Batch, DiskRoom, GroupNumber, List, Record};
use lapwing_store::journal::Covered;

use super::core::Core;
use super::disk::{self, Disk, Word};
use super::door::Order;
use super::error::MemberError;
use super::installing::Installing;
use super::lanes::Lanes;
use super::lease::Lease;
use super::links::Links;
use super::moving::Moving;
use super::news;
use super::pace::Pace;
use super::serving::ServingOrder;
use super::status::status;
use crate::event_loop::EventLoop;
use crate::log::now_us;
use crate::niceness::come_soon;

/// Time between two ticks of the engines.
pub(super) const TICK: Duration = Duration::from_millis(20);
/// How often it is looked whether a state is due to be written down.
const TEND_EVERY: Duration = Duration::from_millis(100);
/// How long others may take to lead what this node led, when it ends.
const HAND_OVER_MAX: Duration = Duration::from_secs(1);

/// The thread's state; [`RaftThread::run`] is its life.
pub(super) struct RaftThread {
    pub(super) event_loop: EventLoop,
    pub(super) core: Core,
    pub(super) links: Links,
    pub(super) disk: Disk,
    pub(super) moving: Moving,
    /// The one snapshot from a leader that is to count.
    pub(super) installing: Option<Installing>,
    /// Of each log so much is kept for a voter that lacks it.
    pub(super) keep_log_bytes: u64,
    /// How far each log was ordered to be purged.
    pub(super) purged: BTreeMap<GroupNumber, u64>,
    pub(super) orders: Receiver<Order>,
    pub(super) serving: Sender<ServingOrder>,
    pub(super) lease: Arc<Lease>,
    pub(super) clock: Clock,
    pub(super) lanes: Option<Lanes>,
    pub(super) pace: Pace,
    /// It was decided that this node serves; it begins when its states have everything.
    pub(super) is_to_serve: bool,
    pub(super) room: Room,
    /// The one snapshot that is being written, and those that nobody may need the log before.
    pub(super) is_snapshot_busy: bool,
    pub(super) covered: Vec<(GroupNumber, Covered)>,
    /// The term in which a serving ends that still may say so to its clients.
    pub(super) farewell_in: Option<u64>,
    /// Since when it is to end.
    pub(super) stopping_since: Option<Instant>,
}

/// When what is due.
pub(super) struct Clock {
    pub(super) next_tick: Instant,
    pub(super) last_tend: Instant,
}

/// What the disk says of its room.
#[derive(Clone, Copy, Default)]
pub(super) struct Room {
    pub(super) is_full: bool,
    pub(super) is_low: bool,
    pub(super) scale_bytes: u64,
}

impl Room {
    fn named(self) -> DiskRoom {
        match self {
            Room { is_full: true, .. } => DiskRoom::Full,
            Room { is_low: true, .. } => DiskRoom::Low,
            Room { .. } => DiskRoom::Enough,
        }
    }
}

impl RaftThread {
    /// Works until it is told to stop.
    ///
    /// # Errors
    /// The log has failed, or something that cannot be; the node ends.
    pub(super) fn run(mut self) -> Result<(), MemberError> {
        come_soon();
        let ended = self.work();
        self.lease.set(0);
        // Whoever waits for what is in the lanes does so no longer, and a serving that is left ends.
        self.lanes = None;
        self.tell_serving(ServingOrder::End(Ending::Unconfirmed));
        self.moving.stop();
        self.disk.close();
        ended
    }

    fn work(&mut self) -> Result<(), MemberError> {
        while !self.is_to_end() {
            self.event_loop.prepare();
            // From here on whoever brings something rings.
            let has_more = self.take_words()? | self.take_orders() | self.gather()? | self.core.take_has_more();
            let now = Instant::now();
            let pause = self.pace.within(self.clock.next_tick.saturating_duration_since(now), now);
            let slept = if has_more || pause.is_zero() {
                self.event_loop.poll(Duration::ZERO)
            } else {
                self.event_loop.sleep(pause)
            };
            self.pace.awake();
            slept.map_err(MemberError::from)?;
            self.take_frames();
            self.move_on()?;
            self.tick()?;
            self.turn()?;
            self.serve_if_due();
            self.lease.set(self.serves_until_ms());
            self.links.fill(self.event_loop.registry(), &mut self.core);
            if let Some(failure) = self.core.failure.take().or_else(|| self.links.take_refused()) {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Until when somebody may be answered: while this node serves, and while it ends that by its own will.
    fn serves_until_ms(&self) -> u64 {
        let is_active = self.core.replica.serving() == Role::Active;
        let says_farewell = self.farewell_in == Some(self.core.metadata_term());
        if is_active || says_farewell { self.core.replica.may_serve_until_ms() } else { 0 }
    }

    /// Others need not wait for an election where this node hands over what it leads.
    fn is_to_end(&mut self) -> bool {
        let Some(since) = self.stopping_since else { return false };
        since.elapsed() > HAND_OVER_MAX || !self.core.replica.hand_all_over()
    }

    fn take_frames(&mut self) {
        let now = Instant::now();
        let tokens: Vec<_> = self.event_loop.events().map(mio::event::Event::token).collect();
        for token in tokens {
            self.links.happened(token, self.event_loop.registry(), &mut self.core, now);
        }
    }

    /// Takes what the disk has to say.
    fn take_words(&mut self) -> Result<bool, MemberError> {
        let mut has_any = false;
        while let Some(word) = self.disk.word()? {
            has_any = true;
            match word {
                Word::Persisted(write) => self.core.replica.persisted(write),
                Word::Room { is_full, is_low, scale_bytes } => {
                    self.room = Room { is_full, is_low, scale_bytes };
                    self.core.telling.room = self.room.named();
                    self.core.replica.set_space(!is_full);
                    self.moving.set_low(is_low || is_full);
                    self.tell_room();
                }
                Word::Free(free_bytes) => self.core.telling.free_bytes = free_bytes,
                Word::Snapshot(group, written) => self.written(group, written),
                Word::Installed(group) => self.installed(group),
                Word::Failed(error) => return Err(error),
            }
        }
        Ok(has_any)
    }

    fn take_orders(&mut self) -> bool {
        let mut has_any = false;
        while let Ok(order) = self.orders.try_recv() {
            has_any = true;
            match order {
                Order::Lanes(wiring, done) => self.take_lanes(wiring, done),
                Order::NotServed => {
                    self.core.replica.step_down(None);
                    self.core.replica.serving_ended();
                }
                Order::ServingEnded => {
                    self.farewell_in = None;
                    self.core.replica.serving_ended();
                }
                Order::StepDown(to) => self.core.replica.step_down(to),
                // Whoever asked may have gone.
                Order::Status(reply) => drop(reply.send(status(&self.core, &self.links, &self.moving))),
                Order::Say(entry, reply) => self.take_wish(entry, reply),
                Order::Stop => self.stopping_since = Some(Instant::now()),
            }
        }
        has_any
    }

    fn tick(&mut self) -> Result<(), MemberError> {
        let now = Instant::now();
        if now < self.clock.next_tick {
            return Ok(());
        }
        // Ticks that were lost are not made up for.
        self.clock.next_tick = now + TICK;
        self.disk.give_held();
        self.core.replica.tick();
        match self.core.replica.decide(self.lease.now_ms()) {
            // Who is about to end begins nothing.
            Step::Serve if self.stopping_since.is_some() => self.core.replica.serving_ended(),
            Step::Serve => self.is_to_serve = true,
            Step::End(ending) => {
                let is_led = matches!(ending, Ending::StepDown | Ending::NoSpace);
                if is_led {
                    // What was taken is committed yet, and clients hear that they are to go elsewhere.
                    self.farewell_in = Some(self.core.metadata_term());
                } else {
                    self.lose_lanes();
                }
                if std::mem::take(&mut self.is_to_serve) {
                    self.core.replica.serving_ended();
                } else {
                    self.tell_serving(ServingOrder::End(ending));
                }
            }
            Step::Nothing | Step::Draw(_) | Step::GiveUp(_) => {}
        }
        if std::mem::take(&mut self.core.has_new_members) {
            let others = self.core.others();
            self.links.set_members(others.iter().map(|(node, addresses)| (*node, addresses.as_slice())));
        }
        self.core.tell(now);
        self.links.cut_who_is_out(self.event_loop.registry(), &mut self.core);
        self.tend_desk();
        self.links.tick(self.event_loop.registry(), &mut self.core, now);
        self.propose_news()?;
        if now - self.clock.last_tend >= TEND_EVERY {
            self.clock.last_tend = now;
            self.tend();
            self.tend_moving()?;
        }
        Ok(())
    }

    /// A node that serves with states that lack something would give numbers twice.
    fn serve_if_due(&mut self) {
        if self.is_to_serve && self.core.has_applied_all() {
            self.is_to_serve = false;
            self.tell_serving(ServingOrder::Begin);
        }
    }

    fn tell_serving(&self, order: ServingOrder) {
        // That thread ends behind this one.
        let _ = self.serving.send(order);
    }

    /// One entry of metadata at a time, and only where its number is known.
    fn propose_news(&mut self) -> Result<(), MemberError> {
        if !self.core.may_propose_metadata() {
            return Ok(());
        }
        let next = news::next(&self.core).or_else(|| self.next_of_desk()).or_else(|| self.tend_membership());
        next.map_or(Ok(()), |entry| self.propose_metadata(&entry))
    }

    fn propose_metadata(&mut self, entry: &Entry) -> Result<(), MemberError> {
        let body = entry.encode();
        if Entry::decode(&body).is_err() {
            // Whoever said that of itself is out of its bounds: no node could read its own log again.
            self.core.refuse(entry.clone());
            return Ok(());
        }
        let record = Record { slot: 0, message_id: 0, appended_at_us: now_us(), body: &body };
        let batch = Batch::of(self.core.cluster.applied() + 1, &List::from_slice(&[record]));
        let batch = Arc::new(batch.map_err(MemberError::Frame)?);
        // Where it is refused another node leads, and has the same to say.
        let _ = self.core.propose(GroupNumber::METADATA, batch);
        Ok(())
    }

    /// What follows from all that has come.
    fn turn(&mut self) -> Result<(), MemberError> {
        let (write, turn) = self.core.turn();
        if let Some(write) = write {
            self.disk.order(disk::Order::Write(write));
        }
        if !turn.returned.is_empty() {
            self.lose_lanes();
        }
        for (group, node) in turn.lagging {
            self.moving.lags(group, node);
        }
        self.core.apply()?;
        self.settle_lanes();
        Ok(())
    }
}
