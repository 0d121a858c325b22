//! Messages that wait for their first subscriber.
//!
//! A topic belongs to at most one hold, the one with the most specific filter, and a hold to one shard, its *owner*: that of the
//! slot that its filter hashes to. QoS 1 and 2 messages of its topics always go through the owner, whether somebody
//! subscribes or not ([`publish`]): so one queue says what is before what, and nothing that comes goes past what waits. The owner
//! writes the message down, if the hold is durable, confirms it to the publisher's shard, and offers it to whoever
//! subscribes ([`release`]): to sessions and groups here, and to other shards, which answer whether somebody was there
//! ([`receive`]). What nobody took goes back to its place. A SUBSCRIBE anywhere lets owners look for what it matches.
//!
//! One *batch* of messages is under way to other shards at a time, and while it is, nothing else leaves: so the order of a topic
//! holds although a subscriber may come or go in between.

mod book;
mod owned;
mod publish;
mod queue;
mod receive;
mod release;
mod restore;

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU64;

use lapwing_session::CommitToken;
use rustc_hash::FxBuildHasher;

use super::Shard;
use super::room::Room;
use crate::config::Config;
use crate::mail::{Control, OfferedList};
use crate::shared::Shared;
use crate::slot::ShardId;
use book::HoldBook;
pub(crate) use book::{HOLD_NAME, ranked};
use owned::Hold;
use receive::Declined;

/// All that a shard has to do with holds.
pub(crate) struct Holds {
    book: HoldBook,
    /// Those that live here: as configured, then those that are configured no more and have something left.
    owned: Vec<Hold>,
    /// By number in the configuration, the place in `owned`.
    places: Vec<Option<usize>>,
    /// Messages that are finished when a token is committed: token, place and entry.
    finishing: VecDeque<(CommitToken, usize, NonZeroU64)>,
    /// By owner and its place there: what of the batch that came last nobody here took.
    declined: HashMap<(ShardId, u32), Declined, FxBuildHasher>,
    /// What owners are to be told.
    answers: Vec<(ShardId, OfferedList)>,
}

impl Room for Holds {
    fn has_work(shard: &mut Shard) -> bool {
        shard.has_hold_work()
    }

    fn is_settled(shard: &mut Shard) -> bool {
        shard.holds.is_settled()
    }
}

impl Holds {
    /// `left`: filters of holds that the log has.
    pub(crate) fn new<'f>(shared: &Shared, own: ShardId, left: impl Iterator<Item = &'f str>) -> Self {
        let config: &Config = &shared.config;
        let book = HoldBook::new(config, &shared.placement, left);
        let (mut owned, mut places) = (Vec::new(), Vec::new());
        for (number, (filter, hold)) in ranked(config).into_iter().enumerate() {
            let is_here = book.owner(number as u32) == own;
            places.push(is_here.then_some(owned.len()));
            if is_here {
                let counters = shared.hold_counters[number].clone();
                owned.push(Hold::configured(filter, hold, config.keeps_sessions(), counters));
            }
        }
        let (finishing, declined, answers) = (VecDeque::new(), HashMap::default(), Vec::new());
        Holds { book, owned, places, finishing, declined, answers }
    }

    /// True when there is a hold on any shard.
    pub(crate) fn any(&self) -> bool {
        !self.book.owners().is_empty()
    }

    /// Nothing is under way: every message waits, or has gone and is finished.
    pub(crate) fn is_settled(&self) -> bool {
        self.finishing.is_empty() && self.answers.is_empty() && self.owned.iter().all(|hold| hold.batch.is_none())
    }

    /// The timer that a hold waits for.
    pub(crate) fn timer_ms(&self, place: usize) -> Option<u64> {
        self.owned.get(place)?.timer_ms
    }
}

impl Shard {
    /// Whether a turn would bring a hold on.
    pub(super) fn has_hold_work(&self) -> bool {
        let has_work = self.holds.owned.iter().any(Hold::has_work);
        !self.holds.answers.is_empty() || (has_work && self.connections.is_listening && self.mail.post.has_credit())
    }

    /// Answers other owners, and lets the holds here offer what they may.
    pub(super) fn run_holds(&mut self) {
        for (to, list) in std::mem::take(&mut self.holds.answers) {
            self.mail.post.control(to, Control::Offered(Box::new(list)));
        }
        if !self.connections.is_listening {
            // Not everybody is back yet.
            return;
        }
        for place in 0..self.holds.owned.len() {
            self.run_hold(place);
        }
    }

    /// A client here has subscribed to `filter`, and every shard knows it: owners look for what waits.
    pub(super) fn tell_holds(&mut self, filter: &str) {
        for shard in self.holds.book.owners().iter() {
            if shard == self.id {
                self.wanted_from_holds(filter);
            } else {
                self.mail.post.control(shard, Control::Wanted { filter: filter.into() });
            }
        }
    }

    /// Somebody wants `filter`: what waits here under it is offered.
    pub(super) fn wanted_from_holds(&mut self, filter: &str) {
        self.holds.owned.iter_mut().for_each(|hold| hold.queue.wanted(filter));
    }

    /// The time of a hold has come: something expires, or may be tried again.
    pub(super) fn hold_due(&mut self, place: usize, at_ms: u64) {
        if let Some(hold) = self.holds.owned.get_mut(place).filter(|hold| hold.timer_ms == Some(at_ms)) {
            hold.timer_ms = None;
            hold.queue.unpark();
        }
    }

    /// Everything up to `through` is committed: what receivers have on disk is finished here.
    pub(super) fn holds_committed(&mut self, through: CommitToken) {
        while let Some((token, place, entry)) = self.holds.finishing.front().copied() {
            if token > through {
                break;
            }
            self.holds.finishing.pop_front();
            self.finish_held(place, Some(entry));
        }
    }
}
