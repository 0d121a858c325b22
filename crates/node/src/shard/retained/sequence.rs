//! Replay against live: the numbers that say whether a page of retained messages is older than what came live, and which of
//! its messages came live or will.
//!
//! Retained messages that go from an origin to an owner are numbered, and applied in that order. A page says how many of
//! each origin it holds, a live message carries its own number: one whose number is higher is newer than the page.
//!
//! A subscriber gets each message once, live or from a page. When a replay begins, its filter is in force everywhere: what
//! origins number from there on comes live ([`Start`]), and what was on its way then has come before the first page is asked
//! for. What came in between, since the subscription stood in this shard's tree, is noted by topic ([`Delivered`]).

use std::collections::HashMap;
use std::sync::Arc;

use super::delivered::Delivered;
use crate::slot::ShardId;

/// Topics that are remembered while pages are under way. Beyond, those pages are thrown away and asked for again.
const LIVE_TOPICS_MAX: usize = 65_536;

/// From which numbers on everything comes live to a subscription.
#[derive(Debug)]
pub(crate) struct Start {
    /// By origin, then owner: messages with higher numbers come live.
    known: Box<[Box<[u64]>]>,
    /// By origin: messages of the publish lane that must have been taken before a page shows what did not come live.
    posted: Box<[u64]>,
}

impl Start {
    /// Whether a retained message comes live, or has come so, since this.
    pub(crate) fn is_live(&self, owner: ShardId, origin: ShardId, seq: u64) -> bool {
        seq > self.known[origin.index()][owner.index()]
    }
}

/// One shard's view of all numbers. "By origin" and "by owner": indexed by shard.
pub(crate) struct Sequences {
    own: usize,
    /// By owner: retained messages that this shard has sent (or kept itself).
    sent: Box<[u64]>,
    /// By origin: those that this shard, as an owner, has applied.
    applied: Box<[u64]>,
    /// By origin, then owner: how far it is known that live messages come to this shard, or need not.
    known: Vec<Box<[u64]>>,
    /// By target: messages posted on the publish lane.
    posted: Box<[u64]>,
    /// By origin: messages taken from the publish lane.
    taken: Box<[u64]>,
    /// By origin: messages posted on the publish lane when it last said what is in force there.
    announced_posted: Box<[u64]>,
    /// The last start that was asked for, while it is still true.
    start: Option<Arc<Start>>,
    /// What came live while subscriptions began.
    pub(crate) delivered: Delivered,
    /// Pages asked for and not handled.
    outstanding: usize,
    /// Retained messages that came live while pages were outstanding, by topic: their origin and number. Clients choose
    /// topics, so the hash is seeded.
    live: HashMap<Box<str>, Vec<(ShardId, u64)>>,
    /// The last page asked for, and the last one that is not to be used.
    last_id: u64,
    void_through: u64,
}

impl Sequences {
    pub(crate) fn new(own: ShardId, shards: u32) -> Self {
        let zeros = || vec![0_u64; shards as usize].into_boxed_slice();
        Sequences {
            own: own.index(),
            sent: zeros(),
            applied: zeros(),
            known: (0..shards).map(|_| zeros()).collect(),
            posted: zeros(),
            taken: zeros(),
            announced_posted: zeros(),
            start: None,
            delivered: Delivered::default(),
            outstanding: 0,
            live: HashMap::new(),
            last_id: 0,
            void_through: 0,
        }
    }

    /// Numbers a retained message that is about to go to `owner`, which may be this shard.
    pub(crate) fn send(&mut self, owner: ShardId) -> u64 {
        self.start = None;
        let sent = &mut self.sent[owner.index()];
        *sent += 1;
        if owner.index() == self.own {
            self.applied[self.own] = *sent;
        }
        *sent
    }

    /// How many went to each owner.
    pub(crate) fn sent(&self) -> Box<[u64]> {
        self.sent.clone()
    }

    /// Notes that a message goes to `target` on the publish lane.
    pub(crate) fn post(&mut self, target: ShardId) {
        self.posted[target.index()] += 1;
    }

    /// How many went to `target` on the publish lane.
    pub(crate) fn posted(&self, target: ShardId) -> u64 {
        self.posted[target.index()]
    }

    /// Notes that a message came from `origin` on the publish lane.
    pub(crate) fn take(&mut self, origin: ShardId) {
        self.taken[origin.index()] += 1;
    }

    /// Whether as many came from `origin` as it had posted.
    pub(crate) fn has_taken(&self, origin: ShardId, posted: u64) -> bool {
        origin.index() == self.own || self.taken[origin.index()] >= posted
    }

    /// Notes that the next retained message of `origin` was applied here.
    pub(crate) fn apply(&mut self, origin: ShardId) {
        self.applied[origin.index()] += 1;
    }

    /// By origin, how many were applied here.
    pub(crate) fn applied(&self) -> Box<[u64]> {
        self.applied.clone()
    }

    /// Whether so many were applied here.
    pub(crate) fn has_applied(&self, need: &[u64]) -> bool {
        self.applied.iter().zip(need).all(|(applied, need)| applied >= need)
    }

    /// `origin` sends its messages here from now on; so many it had sent to each owner before, and so many had it `posted` here.
    pub(crate) fn in_force(&mut self, origin: ShardId, sent: &[u64], posted: u64) {
        self.start = None;
        self.announced_posted[origin.index()] = posted;
        for (known, sent) in self.known[origin.index()].iter_mut().zip(sent) {
            *known = (*known).max(*sent);
        }
    }

    /// A retained message came live from `origin`, with number `seq` towards `owner`.
    pub(crate) fn note_live(&mut self, origin: ShardId, owner: ShardId, seq: u64, topic: &str) {
        self.start = None;
        let known = &mut self.known[origin.index()][owner.index()];
        *known = (*known).max(seq);
        if self.outstanding == 0 {
            return;
        }
        if let Some(marks) = self.live.get_mut(topic) {
            match marks.iter_mut().find(|mark| mark.0 == origin) {
                Some(mark) => mark.1 = seq,
                None => marks.push((origin, seq)),
            }
            return;
        }
        if self.live.len() >= LIVE_TOPICS_MAX {
            self.live = HashMap::new();
            self.void_through = self.last_id;
        }
        self.live.insert(topic.into(), vec![(origin, seq)]);
    }

    /// What comes live to a subscription that is in force everywhere now.
    pub(crate) fn start(&mut self) -> Arc<Start> {
        if let Some(start) = &self.start {
            return start.clone();
        }
        let mut known = self.known.clone().into_boxed_slice();
        known[self.own] = self.sent.clone();
        let start = Arc::new(Start { known, posted: self.announced_posted.clone() });
        self.start = Some(start.clone());
        start
    }

    /// Whether all has come that was on its way then.
    pub(crate) fn is_ripe(&self, start: &Start) -> bool {
        let mut origins = start.posted.iter().enumerate();
        origins.all(|(origin, posted)| self.has_taken(ShardId(origin as u8), *posted))
    }

    /// By origin, what `owner` must have applied before it answers.
    pub(crate) fn need(&self, owner: ShardId) -> Box<[u64]> {
        let known = self.known.iter().map(|by_owner| by_owner[owner.index()]);
        let mut need: Box<[u64]> = known.collect();
        need[self.own] = self.sent[owner.index()];
        need
    }

    /// Counts a page that is asked for; returns its number.
    pub(crate) fn ask(&mut self) -> u64 {
        self.outstanding += 1;
        self.last_id += 1;
        self.last_id
    }

    /// Counts a page as handled.
    pub(crate) fn handled(&mut self) {
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.live.clear();
        }
    }

    /// Whether what came live since page `id` was asked for has been forgotten.
    pub(crate) fn is_void(&self, id: u64) -> bool {
        id <= self.void_through
    }

    /// Whether a newer value of `topic` came live than a page with `applied` can hold.
    pub(crate) fn is_outdated(&self, topic: &str, applied: &[u64]) -> bool {
        let newer = |&(origin, seq): &(ShardId, u64)| seq > applied[origin.index()];
        self.live.get(topic).is_some_and(|marks| marks.iter().any(newer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBSCRIBER: ShardId = ShardId(0);
    const OWNER: ShardId = ShardId(1);
    const OTHER: ShardId = ShardId(2);

    /// Must an owner have applied what was sent before the filter was in force, and what was seen live?
    #[test]
    fn an_owner_answers_after_what_is_known_of() {
        let mut subscriber = Sequences::new(SUBSCRIBER, 3);
        let mut owner = Sequences::new(OWNER, 3);
        subscriber.send(OWNER);
        subscriber.in_force(OTHER, &[0, 4, 0], 0);
        assert_eq!(*subscriber.need(OWNER), [1, 0, 4]);
        subscriber.note_live(OTHER, OWNER, 6, "t");
        subscriber.in_force(OTHER, &[0, 5, 0], 0);
        let need = subscriber.need(OWNER);
        assert_eq!(*need, [1, 0, 6]);
        owner.apply(SUBSCRIBER);
        (0..5).for_each(|_| owner.apply(OTHER));
        assert!(!owner.has_applied(&need));
        owner.apply(OTHER);
        assert!(owner.has_applied(&need));
    }

    /// Is a page's value given up exactly when a newer one came live while the page was under way?
    #[test]
    fn a_page_yields_to_what_it_does_not_hold() {
        let mut subscriber = Sequences::new(SUBSCRIBER, 3);
        subscriber.note_live(OTHER, OWNER, 1, "before");
        subscriber.ask();
        subscriber.note_live(OTHER, OWNER, 2, "held");
        subscriber.note_live(OTHER, OWNER, 3, "newer");
        let applied = [0, 0, 2];
        assert!(!subscriber.is_outdated("before", &applied) && !subscriber.is_outdated("held", &applied));
        assert!(subscriber.is_outdated("newer", &applied));
        subscriber.handled();
        assert!(!subscriber.is_outdated("newer", &applied));
    }

    /// Is a message taken for live exactly when its number is higher than what was known at the start, and is it ripe only when
    /// what was on its way has come?
    #[test]
    fn what_comes_live_is_known_from_the_start() {
        let mut subscriber = Sequences::new(SUBSCRIBER, 3);
        subscriber.send(OWNER);
        subscriber.in_force(OTHER, &[0, 4, 0], 2);
        let start = subscriber.start();
        for (origin, seq, is_live) in
            [(SUBSCRIBER, 1, false), (SUBSCRIBER, 2, true), (OTHER, 4, false), (OTHER, 5, true)]
        {
            assert_eq!(start.is_live(OWNER, origin, seq), is_live, "{origin:?} {seq}");
        }
        assert!(!subscriber.is_ripe(&start));
        subscriber.take(OTHER);
        assert!(!subscriber.is_ripe(&start));
        subscriber.take(OTHER);
        assert!(subscriber.is_ripe(&start));
        subscriber.note_live(OTHER, OWNER, 5, "t");
        assert!(!subscriber.start().is_live(OWNER, OTHER, 5) && start.is_live(OWNER, OTHER, 5));
    }

    /// Are the pages under way given up, and only they, when too many topics would have to be remembered?
    #[test]
    fn memory_is_bounded_by_asking_again() {
        let mut subscriber = Sequences::new(SUBSCRIBER, 3);
        let id = subscriber.ask();
        (0..LIVE_TOPICS_MAX as u64).for_each(|n| subscriber.note_live(OTHER, OWNER, n + 1, &n.to_string()));
        assert!(!subscriber.is_void(id));
        subscriber.note_live(OTHER, OWNER, LIVE_TOPICS_MAX as u64 + 1, "one more");
        assert!(subscriber.is_void(id) && !subscriber.is_void(id + 1));
        let later = subscriber.ask();
        assert!(!subscriber.is_void(later));
    }
}
