//! What a strategy is: it looks at the numbers of all members and names one.

use crate::deferred::Deferral;
use crate::index::MemberIndex;
use crate::parameters::Parameters;
use crate::random::Random;
use crate::signals::Signals;
use crate::work::{Pick, Work};

/// Above so many members a strategy looks at a sample: a scan of all would cost more than it gains.
pub(crate) const SCAN_MAX: usize = 64;

/// One question: who gets this message now?
pub struct Ask<'a> {
    pub(crate) signals: &'a [Signals],
    /// Who is here; `signals` also has places of those who left.
    pub(crate) crew: Crew,
    pub(crate) work: &'a Work,
    /// Messages that wait in the group's queue.
    pub(crate) backlog: usize,
    pub(crate) now_ms: f64,
    pub(crate) parameters: &'a Parameters,
    pub(crate) random: &'a mut Random,
    /// What each member's fair share of all messages has come to.
    pub(crate) share_clock: f64,
    /// Where the scan begins, so that among equals each has its turn.
    pub(crate) turn: usize,
}

/// Who is in the group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crew {
    /// Members that are here.
    pub here: usize,
    /// Of them, those that acknowledge on receipt.
    pub blind: usize,
}

/// A rule for choosing a member. One per group; it may keep state of its own, the members' numbers are kept for it.
pub trait Choose: Send {
    /// Names a member that may have the message. The group checks it: who may not have it is never sent to.
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick;

    /// The message will be asked for when those before it have gone. Whoever needs time to answer may begin now.
    fn foresee(&mut self, _ask: &Ask<'_>) {}

    /// Time has come to `now_ms`: whoever answers later takes in what has come, and gives up what is overdue, whatever
    /// waits.
    fn hear(&mut self, _now_ms: f64) {}

    /// What a strategy that answers later wants of the owner of the group; None: it answers at once.
    fn deferral(&self) -> Option<Deferral> {
        None
    }

    /// A message has left the queue and goes to nobody.
    fn dropped(&mut self, _number: u64) {}

    /// The message was sent to `member`.
    fn sent(&mut self, _member: MemberIndex, _work: &Work) {}

    /// `member` no longer has a message of `key`: acknowledged, or taken back.
    fn finished(&mut self, _member: MemberIndex, _key: u64) {}

    /// `member` has left, with all it had.
    fn left(&mut self, _member: MemberIndex) {}
}

impl Ask<'_> {
    /// Everybody who is here, with what strategies outside this room may read of them. Who of them may have the message,
    /// [`Signals::can_take`] says.
    pub fn members(&self) -> impl Iterator<Item = (MemberIndex, &Signals)> {
        let places = self.signals.iter().enumerate().filter(|(_, signals)| signals.limit > 0);
        places.map(|(at, signals)| (MemberIndex(at as u32), signals))
    }

    /// The numbers of one of them; None: nobody is there.
    pub fn member(&self, member: MemberIndex) -> Option<&Signals> {
        self.signals.get(member.slot()).filter(|signals| signals.limit > 0)
    }

    /// The message.
    pub fn work(&self) -> &Work {
        self.work
    }

    /// Messages that wait in the group's queue.
    pub fn backlog(&self) -> usize {
        self.backlog
    }

    /// The time, milliseconds of the caller's clock.
    pub fn now_ms(&self) -> f64 {
        self.now_ms
    }

    /// Messages in the group's queue per member.
    pub(crate) fn share(&self) -> f64 {
        self.backlog as f64 / self.crew.here.max(1) as f64
    }

    /// Members that may have the message, as far as the hard bounds go.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = (usize, &Signals)> {
        let (late, early) = self.signals.split_at(self.turn.min(self.signals.len()));
        let places = (late.len()..).zip(early).chain(late.iter().enumerate());
        places.filter(|(_, signals)| signals.can_take(self.now_ms))
    }

    /// Any candidate, each as likely.
    pub(crate) fn draw(&mut self) -> Option<MemberIndex> {
        // Mostly anybody may have the message: a few tries cost less than to count who may.
        for _ in 0..4 {
            let at = self.random.below(self.signals.len());
            if self.signals.get(at).is_some_and(|signals| signals.can_take(self.now_ms)) {
                return Some(MemberIndex(at as u32));
            }
        }
        let count = self.candidates().count();
        let nth = self.random.below(count);
        self.candidates().nth(nth).map(|(at, _)| MemberIndex(at as u32))
    }

    /// The candidate with the least score among those that `admit` lets through; above [`SCAN_MAX`] members, the least
    /// of a sample. `None` means that there is none among all of them.
    ///
    /// `score`: milliseconds, given the least so far; what is surely more may be answered with anything that is not
    /// less. `admit` is asked only about who would be the best so far: it costs more than a score.
    pub(crate) fn least(
        &mut self,
        mut score: impl FnMut(&Signals, f64) -> f64,
        mut admit: impl FnMut(&Signals) -> bool,
    ) -> Option<(MemberIndex, f64)> {
        if self.signals.len() > SCAN_MAX {
            let sampled = self.least_of_sample(&mut score, &mut admit);
            if sampled.is_some() {
                return sampled;
            }
        }
        let mut best = None;
        for (at, signals) in self.candidates() {
            consider(&mut best, at, signals, &mut score, &mut admit);
        }
        best
    }

    fn least_of_sample(
        &mut self,
        score: &mut impl FnMut(&Signals, f64) -> f64,
        admit: &mut impl FnMut(&Signals) -> bool,
    ) -> Option<(MemberIndex, f64)> {
        let mut best = None;
        // With repetition: among more than 64 the same one twice is rare, and harmless.
        for _ in 0..self.parameters.sample as usize {
            let at = self.random.below(self.signals.len());
            let signals = &self.signals[at];
            if signals.can_take(self.now_ms) {
                consider(&mut best, at, signals, score, admit);
            }
        }
        best
    }
}

fn consider(
    best: &mut Option<(MemberIndex, f64)>,
    at: usize,
    signals: &Signals,
    score: &mut impl FnMut(&Signals, f64) -> f64,
    admit: &mut impl FnMut(&Signals) -> bool,
) {
    let least = best.map_or(f64::INFINITY, |(_, least)| least);
    let value = score(signals, least);
    if value < least && admit(signals) {
        *best = Some((MemberIndex(at as u32), value));
    }
}

/// A found member, or nobody.
pub(crate) fn to_or_wait(found: Option<MemberIndex>) -> Pick {
    found.map_or(Pick::Wait, Pick::To)
}
