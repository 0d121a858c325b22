//! A shard's side of the hooks: ask, observe, and know what is still unanswered.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lapwing_session::Message;

use super::lanes::{Observation, Question, Reply};
use super::verdict::Verdict;
use super::{Backlog, HookCall, HookClient, HookControl, HookName, Interests};
use crate::config::{HooksConfig, OnFailure};
use crate::mailbox::{Inlet, Lane};
use crate::shard::Debt;

/// Who waits for an answer.
#[derive(Debug)]
pub(crate) enum Whom {
    /// The connection at this place of the table.
    Connection(usize),
    /// The connection there, if it is still the one that was born then; meanwhile it goes on.
    Again { index: usize, born: u64 },
    /// Nobody; a will is to be published.
    /// `debt`: what the log still has of it.
    Will { message: Arc<Message>, client: Arc<HookClient>, debt: Option<Debt> },
}

/// A question that is not answered yet.
#[derive(Debug)]
pub(crate) struct PendingQuestion {
    pub(crate) ticket: u64,
    pub(crate) whom: Whom,
    pub(crate) hook: HookName,
    /// How many calls it has, and so how many verdicts it needs.
    pub(crate) calls: usize,
    due_ms: u64,
}

/// A shard's way to the hooks.
pub(crate) struct HookFeed {
    interests: Interests,
    on_failure: OnFailure,
    timeout_ms: u64,
    ask: Lane<Vec<Question>>,
    tell: Lane<Vec<Observation>>,
    replies: Inlet<Vec<Reply>>,
    /// Replies of the batch taken last.
    taken: VecDeque<Reply>,
    questions: Vec<Question>,
    observations: Vec<Observation>,
    /// By ticket, from `first_ticket` on; those done with are empty, and never at the front.
    unanswered: VecDeque<Option<PendingQuestion>>,
    first_ticket: u64,
    asking: Arc<Backlog>,
    telling: Arc<Backlog>,
    control: Arc<HookControl>,
}

/// The lanes of one shard, and what bounds them.
pub(crate) struct FeedParts {
    pub(crate) ask: Lane<Vec<Question>>,
    pub(crate) tell: Lane<Vec<Observation>>,
    pub(crate) replies: Inlet<Vec<Reply>>,
    pub(crate) asking: Arc<Backlog>,
    pub(crate) telling: Arc<Backlog>,
    pub(crate) control: Arc<HookControl>,
}

impl HookFeed {
    pub(crate) fn new(interests: Interests, config: &HooksConfig, parts: FeedParts) -> Self {
        let FeedParts { ask, tell, replies, asking, telling, control } = parts;
        HookFeed {
            interests,
            on_failure: config.on_failure,
            timeout_ms: config.timeout_ms,
            ask,
            tell,
            replies,
            taken: VecDeque::new(),
            questions: Vec::new(),
            observations: Vec::new(),
            unanswered: VecDeque::new(),
            first_ticket: 1,
            asking,
            telling,
            control,
        }
    }

    /// Whether somebody wrote this hook.
    #[inline]
    pub(crate) const fn wants(&self, hook: HookName) -> bool {
        self.interests.has(hook)
    }

    /// What happens to work without an answer.
    pub(crate) const fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    /// Packets of one connection to be judged together, so that a slow hook is not late for the last of them.
    pub(crate) fn run_packets(&self) -> usize {
        self.control.batch_calls()
    }

    /// Asks; returns the ticket of the answer, or `None` when too much waits already.
    pub(crate) fn ask(&mut self, whom: Whom, calls: Vec<HookCall>, now_ms: u64) -> Option<u64> {
        let hook = calls.first()?.hook();
        let bytes = calls.iter().map(HookCall::footprint).sum::<usize>() as u64;
        // A flood of those who are nobody yet must not keep the queue from clients that were let in.
        let is_stranger = matches!(hook, HookName::Connect | HookName::Auth);
        if (is_stranger && self.asking.is_half_full()) || !self.asking.admit(calls.len() as u64, bytes) {
            return None;
        }
        let ticket = self.first_ticket + self.unanswered.len() as u64;
        let due_ms = now_ms.saturating_add(self.timeout_ms);
        self.unanswered.push_back(Some(PendingQuestion { ticket, whom, hook, calls: calls.len(), due_ms }));
        let deadline = Instant::now() + Duration::from_millis(self.timeout_ms);
        self.questions.push(Question { ticket, deadline, calls, bytes });
        Some(ticket)
    }

    /// Tells something that has happened; false when too much waits already.
    pub(crate) fn observe(&mut self, call: HookCall) -> bool {
        let bytes = call.footprint() as u64;
        let admitted = self.telling.admit(1, bytes);
        if admitted {
            self.observations.push(Observation { call, bytes });
        }
        admitted
    }

    /// The next answer that somebody still waits for.
    pub(crate) fn answered(&mut self) -> Option<(PendingQuestion, Vec<Verdict>)> {
        loop {
            while let Some(reply) = self.taken.pop_front() {
                if let Some(pending) = self.close(reply.ticket) {
                    return Some((pending, reply.verdicts));
                }
            }
            self.taken = self.replies.take()?.into();
        }
    }

    /// The next question whose answer is late; an answer that still comes is thrown away.
    pub(crate) fn late(&mut self, now_ms: u64) -> Option<PendingQuestion> {
        let front = self.unanswered.front()?.as_ref()?;
        if front.due_ms > now_ms {
            return None;
        }
        self.close(front.ticket)
    }

    /// Takes the question of `ticket` out, unless it was done with before.
    fn close(&mut self, ticket: u64) -> Option<PendingQuestion> {
        let place = usize::try_from(ticket.checked_sub(self.first_ticket)?).ok()?;
        let pending = self.unanswered.get_mut(place)?.take();
        while let Some(None) = self.unanswered.front() {
            self.unanswered.pop_front();
            self.first_ticket += 1;
        }
        pending
    }

    /// When the oldest question will be late, on the shard's clock.
    pub(crate) fn next_due_ms(&self) -> Option<u64> {
        self.unanswered.front()?.as_ref().map(|pending| pending.due_ms)
    }

    /// Whether answers wait to be taken.
    pub(crate) fn has_answers(&self) -> bool {
        !self.taken.is_empty() || !self.replies.is_empty()
    }

    /// Whether every question has been answered, and everything seen was handed over.
    pub(crate) fn is_settled(&self) -> bool {
        self.unanswered.is_empty() && self.observations.is_empty() && self.tell.pending() == 0
    }

    /// Hands over what gathered; once per turn of the loop.
    pub(crate) fn flush(&mut self) {
        if !self.questions.is_empty() {
            self.ask.send(std::mem::take(&mut self.questions));
        }
        if !self.observations.is_empty() {
            self.tell.send(std::mem::take(&mut self.observations));
        }
        self.ask.flush();
        self.tell.flush();
    }
}
