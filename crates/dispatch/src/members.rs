//! The members of one group: who joins, what is sent and acknowledged, who is chosen.

use crate::choose::{Ask, Choose, Crew};
use crate::declaration::Declaration;
use crate::flight::Flight;
use crate::index::{MemberIndex, Ticket};
use crate::member::Member;
use crate::parameters::Parameters;
use crate::random::Random;
use crate::rate::Rate;
use crate::report::{Report, ReportError};
use crate::round_trip::RttSource;
use crate::signals::Signals;
use crate::stall::Stalls;
use crate::strategy::Strategy;
use crate::time::ms;
use crate::unacknowledged;
use crate::view::{Counters, Event};
use crate::work::{Pick, Work};

/// When a message was written to the member's socket and when its acknowledgement was read, on the member's shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// Microseconds of the clock of `now_us`. Before the message was bound counts as then.
    pub written_us: u64,
    /// Microseconds of the same clock. Before `written_us` counts as then.
    pub read_us: u64,
}

/// Why a member goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// It unsubscribed, disconnected, was taken over.
    Left,
    /// It was sent away because it had stalled: it is readmitted slowly.
    Stalled,
}

/// The members of one group and all that is known of them. See the crate's page for how the owner drives it.
pub struct Members {
    /// By place; what a scan reads.
    pub(crate) signals: Vec<Signals>,
    /// By place, as `signals`; None: nobody is there. The flight of the last one is kept in `vacated`.
    pub(crate) members: Vec<Option<Member>>,
    /// Places to use again, with the numbering of their tickets.
    vacated: Vec<(MemberIndex, Flight)>,
    pub(crate) crew: Crew,
    pub(crate) parameters: Parameters,
    strategy: Option<Strategy>,
    pub(crate) chooser: Box<dyn Choose>,
    random: Random,
    turn: usize,
    rate: Rate,
    /// What each member's fair share of all messages has come to.
    share_clock: f64,
    pub(crate) stalls: Stalls,
    pub(crate) counters: Counters,
    pub(crate) event: Option<Event>,
    pub(crate) has_warned: bool,
    /// The work of the faster ones among sighted members, looked at now and then.
    pub(crate) usual_ms: f64,
    pub(crate) acks_until_look: u32,
    /// So many acknowledge on receipt that everybody is taken to.
    pub(crate) are_all_blind: bool,
    pub(crate) scratch: Vec<f64>,
    /// Who has refused a message and acknowledged none since.
    pub(crate) refusing: Vec<MemberIndex>,
    /// Who is passed over for the question that is being asked, and when it opens otherwise.
    pub(crate) closed: Vec<(MemberIndex, f64)>,
}

impl Members {
    /// A group without members. `seed`: the same seed and the same calls give the same picks.
    pub fn new(strategy: Strategy, parameters: Parameters, seed: u64) -> Members {
        Members {
            signals: Vec::new(),
            members: Vec::new(),
            vacated: Vec::new(),
            crew: Crew::default(),
            parameters,
            strategy: Some(strategy),
            chooser: strategy.chooser(),
            random: Random::new(seed),
            turn: 0,
            rate: Rate::default(),
            share_clock: 0.0,
            stalls: Stalls::default(),
            counters: Counters::default(),
            event: None,
            has_warned: false,
            usual_ms: 0.0,
            acks_until_look: 0,
            are_all_blind: false,
            scratch: Vec::new(),
            refusing: Vec::new(),
            closed: Vec::new(),
        }
    }

    /// A member joins. What it had in an earlier life is not known here any more, but for its stalls.
    pub fn join(&mut self, declaration: Declaration, now_us: u64) -> MemberIndex {
        let probation = self.stalls.readmit(declaration.identity, ms(now_us));
        let (index, flight) = self.vacated.pop().unwrap_or_else(|| self.new_place());
        let member = Member::new(declaration.in_range(), flight, probation);
        let (share_mark, share_at_ms) = (self.share_clock, ms(now_us));
        self.signals[index.slot()] = Signals { share_mark, share_at_ms, ..member.first_signals() };
        self.members[index.slot()] = Some(member);
        self.recount();
        index
    }

    /// A member says something else about itself. What is known of it and what it has stays; so does its identity.
    /// Harmless for a place where nobody is.
    pub fn redeclare(&mut self, member: MemberIndex, declaration: Declaration, now_us: u64) {
        let place = member.slot();
        let Some(one) = self.members.get_mut(place).and_then(Option::as_mut) else { return };
        one.redeclared(&mut self.signals[place], declaration.in_range(), ms(now_us));
        self.recount();
    }

    /// The member is gone, with everything it had: what it had not acknowledged, the caller hands on. Harmless for a
    /// place where nobody is.
    pub fn leave(&mut self, member: MemberIndex, why: Leaving, now_us: u64) {
        let Some(mut gone) = self.members.get_mut(member.slot()).and_then(Option::take) else { return };
        if why == Leaving::Stalled {
            self.stalls.note(gone.declaration.identity, ms(now_us));
            self.counters.stalls += 1;
        }
        gone.flight.clear();
        self.forgive(member);
        self.vacated.push((member, gone.flight));
        self.signals[member.slot()] = Signals::vacant();
        self.chooser.left(member);
        self.recount();
    }

    /// Who gets this message now? Nothing changes until [`Members::sent`] says that it went.
    ///
    /// `backlog`: messages in the group's queue, this one included or not.
    pub fn pick(&mut self, work: &Work, backlog: usize, now_us: u64) -> Pick {
        self.pick_beside(work, &[], backlog, now_us)
    }

    /// The same for a message that some members cannot have, whatever the strategy says.
    pub fn pick_beside(&mut self, work: &Work, unable: &[MemberIndex], backlog: usize, now_us: u64) -> Pick {
        let now_ms = ms(now_us);
        self.close(unable, now_ms);
        let (mut ask, chooser) = self.ask(work, backlog, now_ms);
        let pick = if work.is_unacknowledged {
            unacknowledged::choose(&ask).map_or(Pick::Wait, Pick::To)
        } else {
            chooser.choose(&mut ask)
        };
        self.reopen();
        let Pick::To(member) = pick else { return pick };
        if self.may_have(member, work, now_ms) {
            return pick;
        }
        self.counters.picks_refused += 1;
        Pick::Wait
    }

    /// The message will be asked for by `pick` when those before it have gone; only for strategies that answer later, see
    /// [`Members::deferral`].
    pub fn foresee(&mut self, work: &Work, backlog: usize, now_us: u64) {
        self.close(&[], ms(now_us));
        let (ask, chooser) = self.ask(work, backlog, ms(now_us));
        if !work.is_unacknowledged {
            chooser.foresee(&ask);
        }
        self.reopen();
    }

    /// Takes in the answers of a strategy that answers later, and gives up those that are overdue. To be called when
    /// [`Deferral::has_news`](crate::Deferral::has_news) and at [`Members::next_turn_us`], before the next `pick`: what
    /// waits need not come to ask for that, and then its deadlines would be in the past for good.
    pub fn hear(&mut self, now_us: u64) {
        self.chooser.hear(ms(now_us));
    }

    /// A message that was asked for goes to nobody: it expired in the queue, say.
    pub fn dropped(&mut self, number: u64) {
        self.chooser.dropped(number);
    }

    fn ask<'a>(&'a mut self, work: &'a Work, backlog: usize, now_ms: f64) -> (Ask<'a>, &'a mut dyn Choose) {
        let Members { signals, crew, parameters, random, turn, chooser, share_clock, .. } = self;
        let (crew, turn, share_clock) = (*crew, *turn, *share_clock);
        (Ask { signals, crew, work, backlog, now_ms, parameters, random, turn, share_clock }, chooser.as_mut())
    }

    /// The message goes to `member`, just chosen. The ticket belongs to its acknowledgement; None for work that nobody
    /// acknowledges, and where the member may not have it (it left meanwhile, say): then the message was not sent.
    pub fn sent(&mut self, member: MemberIndex, work: &Work, now_us: u64) -> Option<Ticket> {
        let now_ms = ms(now_us);
        if !self.may_have(member, work, now_ms) {
            return None;
        }
        let place = member.slot();
        let (signals, one) = (&mut self.signals[place], self.members[place].as_mut()?);
        self.turn = place + 1;
        self.rate.count(now_ms);
        let share_ms = self.rate.interval_ms(f64::INFINITY) * self.crew.here as f64 / self.parameters.gamma;
        signals.used_until_ms = signals.used_until_ms.max(now_ms) + share_ms.min(self.parameters.spread_ms);
        self.share_clock += 1.0 / self.crew.here.max(1) as f64;
        signals.count_share(self.share_clock, now_ms);
        self.chooser.sent(member, work);
        if work.is_unacknowledged {
            one.sent_unacknowledged(signals);
            return None;
        }
        Some(one.sent(signals, work.key, now_ms))
    }

    /// The member has acknowledged a message: PUBACK, or PUBCOMP with the stamp of its PUBREC. Returns whether it had
    /// the message; if not (too late, twice, of an earlier life) nothing has changed but a counter.
    pub fn acknowledged(&mut self, member: MemberIndex, ticket: Ticket, stamps: Stamps) -> bool {
        let (place, first_bound_ms) = (member.slot(), self.first_bound_ms());
        let Some(one) = self.members.get_mut(place).and_then(Option::as_mut) else { return self.unknown() };
        let Some(sent) = one.flight.take(ticket) else { return self.unknown() };
        let signals = &mut self.signals[place];
        one.acknowledged(signals, &self.parameters, &sent, ms(stamps.written_us), ms(stamps.read_us));
        if one.probation.acknowledged(ms(stamps.read_us) - sent.sent_ms <= first_bound_ms) {
            self.stalls.forgive(one.declaration.identity);
        }
        signals.limit = one.probation.limit(u32::from(one.declaration.receive_max));
        if let Some(key) = sent.key {
            self.chooser.finished(member, key);
        }
        self.forgive(member);
        self.judge_sight(place, ms(stamps.read_us));
        true
    }

    /// A message is no longer the member's and nothing is learnt from it: taken back unsent. Returns whether it had the
    /// message.
    pub fn withdrawn(&mut self, member: MemberIndex, ticket: Ticket, now_us: u64) -> bool {
        let place = member.slot();
        let Some(one) = self.members.get_mut(place).and_then(Option::as_mut) else { return self.unknown() };
        let Some(sent) = one.flight.take(ticket) else { return self.unknown() };
        one.withdrawn(&mut self.signals[place], ms(now_us));
        if let Some(key) = sent.key {
            self.chooser.finished(member, key);
        }
        true
    }

    /// A member's word on its own load.
    ///
    /// # Errors
    /// A number out of range, or nobody there: nothing is used of it, and it is counted.
    pub fn report(&mut self, member: MemberIndex, report: &Report, now_us: u64) -> Result<(), ReportError> {
        let one = self.members.get_mut(member.slot()).and_then(Option::as_mut).ok_or(ReportError::Gone);
        let checked = one.and_then(|one| report.check().map(|()| one));
        let one = checked.inspect_err(|_| self.counters.reports_refused += 1)?;
        one.reported(&mut self.signals[member.slot()], report, ms(now_us));
        self.recount();
        Ok(())
    }

    /// A sample of the way to the member and back, in microseconds; at most one per 50 ms is worth its cost.
    pub fn rtt_sample(&mut self, member: MemberIndex, source: RttSource, rtt_us: u64, now_us: u64) {
        if let Some(one) = self.members.get_mut(member.slot()).and_then(Option::as_mut) {
            one.round_trip.sample(source, ms(rtt_us), ms(now_us));
            let signals = &mut self.signals[member.slot()];
            signals.rtt_ms = one.round_trip.estimate_ms(signals.service_ms);
        }
    }

    /// Bytes that the member's socket has not taken.
    pub fn unsent(&mut self, member: MemberIndex, bytes: u64) {
        if let Some(signals) = self.signals.get_mut(member.slot()) {
            signals.unsent_bytes = bytes;
        }
    }

    /// Another strategy from now on. What is known of the members stays.
    pub fn set_strategy(&mut self, strategy: Strategy) {
        self.set_chooser(strategy.chooser());
        self.strategy = Some(strategy);
    }

    /// A strategy of the caller's own. It learns of every message that is under way.
    pub fn set_chooser(&mut self, chooser: Box<dyn Choose>) {
        self.chooser = chooser;
        self.strategy = None;
        for (place, one) in self.members.iter().enumerate() {
            let keys = one.iter().flat_map(|one| one.flight.tail(usize::MAX).1.map(|sent| sent.key));
            for key in keys {
                let work = Work { key, ..Work::default() };
                self.chooser.sent(MemberIndex(place as u32), &work);
            }
        }
    }

    /// Other numbers from now on.
    pub fn set_parameters(&mut self, parameters: Parameters) {
        self.parameters = parameters;
    }

    /// The strategy, unless it is one of the caller's own.
    pub fn strategy(&self) -> Option<Strategy> {
        self.strategy
    }

    fn may_have(&self, member: MemberIndex, work: &Work, now_ms: f64) -> bool {
        self.signals.get(member.slot()).is_some_and(|signals| match work.is_unacknowledged {
            true => signals.can_take_unacknowledged(now_ms),
            false => signals.can_take(now_ms),
        })
    }

    fn new_place(&mut self) -> (MemberIndex, Flight) {
        self.signals.push(Signals::vacant());
        self.members.push(None);
        (MemberIndex(self.signals.len() as u32 - 1), Flight::default())
    }

    fn unknown(&mut self) -> bool {
        self.counters.unknown_acknowledgements += 1;
        false
    }
}
