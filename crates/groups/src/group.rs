//! One consumer group: what comes in, who gets it.

use std::hash::Hash;
use std::num::NonZeroU64;

use lapwing_codec::QoS;
use lapwing_dispatch::{Choose, Deferral, MemberIndex, Members, Parameters, Pick, Strategy};

use crate::action::{Action, Delivery};
use crate::assignment::{Assignment, AssignmentId};
use crate::counters::{Counters, DropReason};
use crate::entry::{Entry, Place};
use crate::facts::{Facts, Lane};
use crate::queue::Queue;
use crate::roster::Roster;
use crate::settings::{Expired, Settings};
use crate::vacancy::Vacancy;

/// Of the messages that not everybody can have, so many are asked for whenever something has changed.
const UNABLE_ASKED_FOR: usize = 4;

/// One consumer group on the shard that owns it. See the crate's page for how the node drives it.
///
/// `K`: a session's key. `M`: a handle to a message, cheap to clone.
pub struct Group<K, M> {
    pub(crate) settings: Settings,
    pub(crate) members: Members,
    pub(crate) roster: Roster<K, M>,
    pub(crate) queue: Queue<M>,
    pub(crate) counters: Counters,
    pub(crate) actions: Vec<Action<K, M>>,
    /// Logged messages that have ended and were not told.
    pub(crate) ended: Vec<NonZeroU64>,
    next_nth: u64,
    next_assignment: u64,
    /// When stalls and the backlog are looked at again; None: there is nothing to look at.
    pub(crate) check_at_us: Option<u64>,
    pub(crate) is_behind: bool,
    pub(crate) has_told_undeliverable: bool,
    /// Since when the group has nothing and nobody.
    pub(crate) vacancy: Vacancy,
}

impl<K: Copy + Eq + Hash, M: Clone> Group<K, M> {
    /// A group without members and messages. `seed`: the same seed and the same events give the same actions.
    pub fn new(settings: Settings, strategy: Strategy, parameters: Parameters, seed: u64) -> Group<K, M> {
        Group {
            settings,
            members: Members::new(strategy, parameters, seed),
            roster: Roster::new(),
            queue: Queue::new(settings.expired),
            counters: Counters::default(),
            actions: Vec::new(),
            ended: Vec::new(),
            next_nth: 0,
            next_assignment: 0,
            check_at_us: None,
            is_behind: false,
            has_told_undeliverable: false,
            vacancy: Vacancy::default(),
        }
    }

    /// A message for the group. QoS 0 is bound at once or dropped; others wait until somebody may have them.
    ///
    /// Returns whether it has to be logged under `facts.entry`: if that is some and the message has not ended already. Of one
    /// that need not be, no end is told. One that comes too late and is a dead letter at once is logged like others: it was
    /// acknowledged, and a crash may be there before the letter is on disk.
    ///
    /// QoS 2 that is logged is nobody's before [`Group::committed`].
    pub fn publish(&mut self, message: M, facts: Facts, now_us: u64) -> bool {
        let ends = self.ended.len();
        self.take_in(message, facts, now_us);
        let has_ended = |entry: &NonZeroU64| facts.entry == Some(*entry);
        if let Some(at) = self.ended[ends..].iter().position(has_ended) {
            self.ended.remove(ends + at);
            facts.entry.into_iter().for_each(|entry| self.queue.unnumber(entry));
            return false;
        }
        let is_late = facts.end(self.settings.expired).is_some_and(|(at_us, _)| at_us <= now_us);
        facts.entry.is_some() && (!is_late || self.settings.expired == Expired::DeadLetter)
    }

    fn take_in(&mut self, message: M, facts: Facts, now_us: u64) {
        let ended = facts.end(self.settings.expired).filter(|&(at_us, _)| at_us <= now_us);
        if let Some(end) = ended {
            let entry = facts.entry.filter(|_| self.settings.expired == Expired::DeadLetter);
            let entry = self.number(message, Facts { entry, ..facts }, false);
            return self.end_late(entry, end);
        }
        let entry = self.number(message, facts, false);
        if !facts.qos.is_acknowledged() {
            return self.pass_on(entry, now_us);
        }
        if !self.takes_messages() {
            return self.drop_entry(entry, DropReason::GroupEmpty);
        }
        let is_free = !facts.waits_for_commit() && self.queue.is_clear();
        let pick = is_free.then(|| self.members.pick(&entry.work(facts.qos), 1, now_us));
        let unbound = match pick {
            Some(Pick::To(member)) => self.bind(entry, member, now_us),
            _ => Err(entry),
        };
        if let Err(entry) = unbound {
            self.enqueue(entry, pick, now_us);
        }
    }

    /// What is logged up to `through` is committed: who may have it gets it.
    pub fn committed(&mut self, through: NonZeroU64, now_us: u64) {
        self.queue.committed(through);
        self.pump(now_us);
    }

    /// A message that an earlier life of the group kept: it waits behind those restored before, whatever the bounds are,
    /// because it was promised already. Any member of that life may have had it. [`Group::tick`] is to follow.
    pub fn restore(&mut self, message: M, facts: Facts, now_us: u64) {
        let entry = self.number(message, facts, true);
        self.queue.push(entry);
        self.arm(now_us);
    }

    fn number(&mut self, message: M, facts: Facts, was_written: bool) -> Entry<M> {
        self.counters.published += 1;
        let nth = self.next_nth;
        self.next_nth += 1;
        Entry { message, facts, nth, was_written, unable: None }
    }

    /// Logged messages that have ended since the last call, each once; but for dead letters, whose facts say where they are
    /// logged: their end is to be told when the letter is on its way.
    pub fn take_ended(&mut self) -> std::vec::Drain<'_, NonZeroU64> {
        self.ended.drain(..)
    }

    /// The group is not kept any more: what it has is logged nowhere from now on.
    pub fn forget(&mut self, now_us: u64) {
        self.ended.clear();
        self.queue.entries_mut().chain(self.roster.entries_mut()).for_each(|entry| entry.facts.entry = None);
        self.committed(NonZeroU64::MAX, now_us);
    }

    /// What is to be done now, in its order.
    pub fn take_actions(&mut self) -> std::vec::Drain<'_, Action<K, M>> {
        self.actions.drain(..)
    }

    /// Whether anything is to be done now.
    pub fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    /// Whether messages should be given to it: it has members, or is durable.
    pub fn takes_messages(&self) -> bool {
        self.settings.is_durable || self.roster.members() > 0
    }

    /// Whether it can be thrown away: it takes no messages and nobody has any of it, or it is durable and was without
    /// members and messages as long as it is set to bear (found by [`Group::tick`]).
    pub fn is_over(&self) -> bool {
        self.vacancy.is_over() || !self.takes_messages() && self.roster.is_empty()
    }

    /// What it is set to.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Other settings from now on. What waits beyond new bounds is dropped, and all that waits in a group that is durable
    /// no more and has no member.
    pub fn set_settings(&mut self, settings: Settings, now_us: u64) {
        self.settings = settings;
        self.vacancy.judge(settings.expires_after_us, now_us);
        self.queue.set_expired(settings.expired);
        self.pump(now_us);
        self.wind_up(now_us);
        self.trim(settings.queue_messages_max, settings.queue_bytes_max);
        self.arm(now_us);
    }

    /// Another strategy from now on; what is known of the members stays.
    pub fn set_strategy(&mut self, strategy: Strategy, now_us: u64) {
        self.members.set_strategy(strategy);
        self.queue.keys().wake_all();
        self.pump(now_us);
    }

    /// A strategy of the caller's own.
    pub fn set_chooser(&mut self, chooser: Box<dyn Choose>, now_us: u64) {
        self.members.set_chooser(chooser);
        self.queue.keys().wake_all();
        self.pump(now_us);
    }

    /// Other numbers for the strategy.
    pub fn set_parameters(&mut self, parameters: Parameters, now_us: u64) {
        self.members.set_parameters(parameters);
        self.queue.keys().wake_all();
        self.pump(now_us);
    }

    /// Binds what waits to whoever may have it, until nobody may. Critical goes first; bulk is asked for even when critical
    /// waits, because it may go to members that critical work is kept from.
    pub(crate) fn pump(&mut self, now_us: u64) {
        self.end_waits(now_us);
        if self.members.crew().here == 0 {
            return;
        }
        self.queue.wake_unable(UNABLE_ASKED_FOR);
        for lane in Lane::ALL {
            while let Some((place, facts)) = self.queue.next(lane) {
                let (pick, line) = self.ask_for(place, &facts, now_us);
                match (pick, line) {
                    (Pick::To(member), _) => {
                        let Some(entry) = self.queue.take(place) else { break };
                        if let Err(entry) = self.bind(entry, member, now_us) {
                            return self.queue.put_back(entry);
                        }
                    }
                    (Pick::Park, Some(line)) => self.queue.park(place, line),
                    // What has no key has nobody to wait for but everybody.
                    (Pick::Wait | Pick::Park, _) => break,
                }
            }
            self.foresee(lane, now_us);
        }
    }

    /// Who gets what is next in the queue? With the line that it has to wait in if nobody does: who waits for everybody
    /// holds up all behind it, who waits for those that can have it does not.
    fn ask_for(&mut self, place: Place, facts: &Facts, now_us: u64) -> (Pick, Option<u64>) {
        let (work, backlog) = (facts.work(place.nth, facts.qos), self.queue.len());
        let Some(unable) = self.queue.unable_for(place) else {
            return (self.members.pick(&work, backlog, now_us), facts.key);
        };
        let (line, places) = (unable.line(facts.key, place.nth), self.places_of(unable));
        let pick = match self.members.pick_beside(&work, &places, backlog, now_us) {
            // When those that cannot have it have left, it waits for everybody as others do, and nobody passes.
            Pick::Wait if !places.is_empty() => Pick::Park,
            pick => pick,
        };
        (pick, Some(line))
    }

    /// A strategy that answers later is shown what will be asked for next.
    fn foresee(&mut self, lane: Lane, now_us: u64) {
        let Some(Deferral { look_ahead, .. }) = self.members.deferral() else { return };
        let backlog = self.queue.len();
        for entry in self.queue.following(lane, look_ahead) {
            self.members.foresee(&entry.work(entry.facts.qos), backlog, now_us);
        }
    }

    /// QoS 0: to whoever may have it now.
    fn pass_on(&mut self, entry: Entry<M>, now_us: u64) {
        let pick = self.members.pick(&entry.work(QoS::AtMostOnce), self.queue.len(), now_us);
        let unbound = match pick {
            Pick::To(member) => self.bind(entry, member, now_us),
            Pick::Wait | Pick::Park => Err(entry),
        };
        if let Err(entry) = unbound {
            let is_empty = self.members.crew().here == 0;
            self.drop_entry(entry, if is_empty { DropReason::GroupEmpty } else { DropReason::GroupBusy });
        }
    }

    /// Waits, with the others if there are any; whatever may be bound is, then somebody gives way if there is no room.
    ///
    /// `asked`: what dispatch has said to it just now.
    fn enqueue(&mut self, entry: Entry<M>, asked: Option<Pick>, now_us: u64) {
        let (messages, bytes) = (self.queue.len(), self.queue.bytes());
        let (place, Facts { key, bytes: size, .. }) = (entry.place(), entry.facts);
        if entry.facts.waits_for_commit() {
            self.queue.push_uncommitted(entry);
        } else {
            self.queue.push(entry);
        }
        self.vacancy.end();
        self.arm(now_us);
        match (asked, key) {
            (None, _) => self.pump(now_us),
            (Some(Pick::Park), Some(key)) => self.queue.park(place, key),
            (Some(_), _) => {}
        }
        if size > self.settings.queue_bytes_max && messages > 0 {
            // It would drive out all others and then itself; alone it may wait.
            if let Some(entry) = self.queue.take(place) {
                self.drop_entry(entry, DropReason::QueueFull);
            }
        }
        // What came back from members may lie above the bounds; it is never a reason to drop more than what came in.
        self.trim(self.settings.queue_messages_max.max(messages), self.settings.queue_bytes_max.max(bytes));
    }

    /// Makes the message the member's whom dispatch has just named; gives it back if nobody is there.
    fn bind(&mut self, entry: Entry<M>, place: MemberIndex, now_us: u64) -> Result<(), Entry<M>> {
        let Some(member) = self.roster.at(place) else { return Err(entry) };
        let qos = entry.facts.qos.min(member.options.qos_max);
        let ticket = self.members.sent(place, &entry.work(qos), now_us);
        let id = AssignmentId(self.next_assignment);
        self.next_assignment += 1;
        self.counters.redelivered += u64::from(entry.was_written);
        member.tally.bound += 1;
        self.actions.push(Action::Send(Delivery {
            to: member.key,
            epoch: member.epoch,
            assignment: qos.is_acknowledged().then_some(id),
            message: entry.message.clone(),
            entry: entry.facts.entry,
            qos,
            is_repeated: entry.was_written,
        }));
        if qos.is_acknowledged() {
            member.assigned.insert(id, Assignment::new(entry, qos, member.epoch, ticket));
            self.arm(now_us);
        } else {
            let key = member.key;
            self.ended.extend(entry.facts.entry);
            member.tally.missed += u64::from(entry.facts.is_missed(now_us));
            self.counters.unacknowledged += 1;
            self.count_missed(&entry, Some(key), now_us);
        }
        Ok(())
    }
}
