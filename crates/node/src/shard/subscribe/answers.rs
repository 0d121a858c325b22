//! SUBACKs and UNSUBACKs that wait: for every shard to know the subscription, and for those asked before them.

use std::collections::{HashMap, VecDeque};

use lapwing_codec::ReasonCode;
use lapwing_session::{CommitToken, Reply, SessionKey};
use rustc_hash::FxBuildHasher;
use slab::Slab;

use crate::shard::retained::replay::Before;

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) to: SessionKey,
    pub(crate) reply: Reply,
    /// Filters whose retained messages are to be sent after it, each with what there was before it stood in the tree.
    pub(crate) replays: Vec<(Box<str>, Before)>,
    /// Filters under which messages may wait in holds, which are offered after it. Empty where there is no hold.
    pub(crate) wanted: Vec<Box<str>>,
    /// It must not leave before this is committed: the subscription is on disk then.
    pub(crate) token: Option<CommitToken>,
    /// Filters of groups, each with its place in the answer: only now it is known whether the group takes the session, and
    /// whoever watches subscriptions is told. Empty where nobody watches.
    pub(crate) untold: Vec<(usize, Box<str>)>,
}

#[derive(Debug)]
struct Pending {
    answer: Answer,
    /// Announcements and groups that have not been confirmed yet.
    outstanding: usize,
}

/// All answers of a shard that have not left; those to one session leave in the order of its requests.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pending: Slab<Pending>,
    /// Places in `pending`, oldest first.
    lines: HashMap<SessionKey, VecDeque<usize>, FxBuildHasher>,
    /// Filters in them whose retained messages are to be sent.
    replays: usize,
}

impl Answers {
    /// Queues an answer that waits for `outstanding` confirmations; returns its place. With none, [`Answers::next`] may
    /// have it at once.
    pub(crate) fn add(&mut self, answer: Answer, outstanding: usize) -> usize {
        let to = answer.to;
        self.replays += answer.replays.len();
        let place = self.pending.insert(Pending { answer, outstanding });
        self.lines.entry(to).or_default().push_back(place);
        place
    }

    /// Adds the next part of an answer that waits for it, with what that part waits for.
    pub(crate) fn extend(&mut self, place: usize, part: Answer, outstanding: usize) {
        let Some(pending) = self.pending.get_mut(place) else { return };
        self.replays += part.replays.len();
        pending.answer.reply.append(part.reply);
        pending.answer.replays.extend(part.replays);
        pending.answer.wanted.extend(part.wanted);
        pending.answer.token = pending.answer.token.max(part.token);
        pending.answer.untold.extend(part.untold);
        pending.outstanding += outstanding;
    }

    /// How many reason codes an answer has so far.
    pub(crate) fn len_of(&self, place: usize) -> usize {
        self.pending.get(place).map_or(0, |pending| pending.answer.reply.reasons().len())
    }

    /// A filter that was granted is refused after all; returns whose answer it is.
    pub(crate) fn refuse(&mut self, place: usize, at: usize, reason: ReasonCode) -> Option<SessionKey> {
        let pending = self.pending.get_mut(place)?;
        pending.answer.reply.refuse(at, reason);
        Some(pending.answer.to)
    }

    /// One of the things that an answer waited for has come; returns whose answer it is.
    pub(crate) fn confirm(&mut self, place: usize) -> Option<SessionKey> {
        let pending = self.pending.get_mut(place)?;
        pending.outstanding = pending.outstanding.saturating_sub(1);
        Some(pending.answer.to)
    }

    /// Takes the oldest answer to a session out, if it waits for nothing any more.
    pub(crate) fn next(&mut self, to: SessionKey) -> Option<Answer> {
        let line = self.lines.get_mut(&to)?;
        let place = *line.front()?;
        if self.pending.get(place)?.outstanding > 0 {
            return None;
        }
        line.pop_front();
        if line.is_empty() {
            self.lines.remove(&to);
        }
        let answer = self.pending.try_remove(place)?.answer;
        self.replays -= answer.replays.len();
        Some(answer)
    }

    /// Whether any of them has retained messages behind it.
    pub(crate) fn await_replays(&self) -> bool {
        self.replays > 0
    }
}
