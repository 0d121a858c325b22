//! The one thread that calls the hooks.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lapwing_codec::Limits;

use super::lanes::{Observation, Question, Reply};
use super::lines::{Line, Lines};
use super::verdict::{Missing, Verdict};
use super::{HookAnswer, HookCall, HookControl, HookFailure, HookName, Hooks};
use crate::assemble::Unpark;
use crate::mailbox::{Bell, Inlet, Lane};

/// Most calls in one batch; their answers leave together.
const BATCH_CALLS_MAX: usize = 1024;
/// A missed wake-up would show as this delay and not as a hang.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// The hook thread's state; [`HookThread::run`] is its life.
pub(crate) struct HookThread {
    hooks: Box<dyn Hooks>,
    limits: Limits,
    timeout: Duration,
    parts: ThreadParts,
    lines: Lines,
    /// By shard: those of a batch that was taken and did not fit into ours.
    observations: Vec<VecDeque<Observation>>,
}

/// The thread's ends of the lanes, by shard.
pub(crate) struct ThreadParts {
    pub(crate) questions: Vec<Inlet<Vec<Question>>>,
    pub(crate) observations: Vec<Inlet<Vec<Observation>>>,
    pub(crate) replies: Vec<Lane<Vec<Reply>>>,
    pub(crate) bell: Bell,
    pub(crate) unpark: Unpark,
    pub(crate) control: Arc<HookControl>,
}

impl HookThread {
    pub(crate) fn new(hooks: Box<dyn Hooks>, limits: Limits, timeout: Duration, parts: ThreadParts) -> Self {
        let shards = parts.questions.len();
        HookThread {
            hooks,
            limits,
            timeout,
            lines: Lines::new(shards),
            observations: (0..shards).map(|_| VecDeque::new()).collect(),
            parts,
        }
    }

    /// Works until the node stops it and nothing waits any more.
    pub(crate) fn run(mut self) {
        self.parts.unpark.is_me();
        loop {
            let stopping = self.parts.control.is_stopping();
            // Decisions first: somebody waits for them; and of those, those of clients that are in.
            let begun = Instant::now();
            let asked = self.gather(Line::Insiders, self.parts.control.batch_calls());
            let mut is_idle = asked.is_empty();
            self.decide(asked);
            is_idle &= !self.decide_strangers(begun.elapsed());
            self.parts.replies.iter_mut().for_each(Lane::flush);
            let seen = self.gather_observations();
            is_idle &= seen.is_empty();
            self.watch(seen);
            if is_idle {
                if stopping {
                    return;
                }
                self.sleep();
            }
        }
    }

    /// Those at the door, one by one, for an eighth of the time limit: whoever decides about them may be fast with a thousand and
    /// slow with the next, which they may choose. Where somebody who is in waits, for as long as the last of those took.
    fn decide_strangers(&mut self, insiders_took: Duration) -> bool {
        let (begun, mut was_any) = (Instant::now(), false);
        loop {
            let asked = self.gather(Line::Strangers, 1);
            if asked.is_empty() {
                return was_any;
            }
            was_any = true;
            self.decide(asked);
            self.lines.take(&mut self.parts.questions);
            let took = begun.elapsed();
            if took >= self.timeout / 8 || (took >= insiders_took && self.lines.have(Line::Insiders)) {
                return true;
            }
        }
    }

    /// About so many calls of one line.
    fn gather(&mut self, line: Line, batch_calls: usize) -> Vec<(usize, Question)> {
        self.lines.take(&mut self.parts.questions);
        let control = &self.parts.control;
        let late = |late: &Question| control.done(late.calls.len(), late.bytes);
        self.lines.gather(line, batch_calls, Instant::now(), late)
    }

    fn gather_observations(&mut self) -> Vec<HookCall> {
        let mut gathered = Vec::new();
        let batch_calls = self.parts.control.batch_calls();
        for (waiting, inlet) in self.observations.iter_mut().zip(&mut self.parts.observations) {
            while gathered.len() < batch_calls {
                if waiting.is_empty()
                    && let Some(batch) = inlet.take()
                {
                    *waiting = batch.into();
                }
                let Some(observation) = waiting.pop_front() else { break };
                self.parts.control.told(observation.bytes);
                gathered.push(observation.call);
            }
        }
        gathered
    }

    /// Calls the hooks for `asked` and sends the answers.
    fn decide(&mut self, asked: Vec<(usize, Question)>) {
        if asked.is_empty() {
            return;
        }
        let mut calls = Vec::new();
        let mut shares = Vec::with_capacity(asked.len());
        for (shard, question) in asked {
            shares.push((shard, question.ticket, question.calls.len(), question.bytes));
            calls.extend(question.calls);
        }
        let mut verdicts = self.call(&calls).into_iter();
        let mut replies: Vec<Vec<Reply>> = self.parts.replies.iter().map(|_| Vec::new()).collect();
        for (shard, ticket, count, bytes) in shares {
            replies[shard].push(Reply { ticket, verdicts: verdicts.by_ref().take(count).collect() });
            self.parts.control.done(count, bytes);
        }
        for (lane, replies) in self.parts.replies.iter_mut().zip(replies) {
            if !replies.is_empty() {
                lane.send(replies);
            }
            lane.flush();
        }
    }

    fn watch(&mut self, seen: Vec<HookCall>) {
        if !seen.is_empty() {
            self.call(&seen);
        }
    }

    /// One verdict for each of `calls`.
    fn call(&mut self, calls: &[HookCall]) -> Vec<Verdict> {
        let begun = Instant::now();
        let answered = self.guarded(calls);
        let took = begun.elapsed();
        self.parts.control.count_batch(took.as_micros() as u64);
        calls.iter().for_each(|call| self.parts.control.count_call(call.hook()));
        // A slow `on_connect` makes no small batches of fast `on_publish`.
        if calls.first().is_some_and(|call| !matches!(call.hook(), HookName::Connect | HookName::Auth)) {
            self.adapt(calls.len(), took);
        }
        match answered {
            Ok(answers) => calls.iter().zip(answers).map(|(call, answer)| self.verdict(call.hook(), answer)).collect(),
            Err(failure) => {
                self.parts.control.note(failure.what);
                calls.iter().map(|call| self.failed(call.hook())).collect()
            }
        }
    }

    /// A panic of the hooks' code is their failure, not the node's.
    fn guarded(&mut self, calls: &[HookCall]) -> Result<Vec<HookAnswer>, HookFailure> {
        let answered = catch_unwind(AssertUnwindSafe(|| self.hooks.call(calls)));
        let failure = |what: String| Err(HookFailure { what });
        match answered {
            Ok(Ok(answers)) if answers.len() == calls.len() => Ok(answers),
            Ok(Ok(answers)) => failure(format!("{} answers to {} calls", answers.len(), calls.len())),
            Ok(Err(error)) => Err(error),
            Err(_) => failure("the hooks panicked".into()),
        }
    }

    fn verdict(&self, hook: HookName, answer: HookAnswer) -> Verdict {
        if answer == HookAnswer::Failed {
            return self.failed(hook);
        }
        Verdict::of(answer, hook, &self.limits).unwrap_or_else(|what| {
            self.parts.control.note(format!("{} gave {what}", hook.as_str()));
            self.failed(hook)
        })
    }

    fn failed(&self, hook: HookName) -> Verdict {
        self.parts.control.count_failed(hook);
        Verdict::Missing(Missing::Failed)
    }

    /// Keeps a batch below an eighth of the time limit: the answers of a batch leave together, so the first call waits
    /// for the last.
    fn adapt(&mut self, calls: usize, took: Duration) {
        let before = self.parts.control.batch_calls();
        let after = if took > self.timeout / 8 {
            (before.min(calls) / 2).max(1)
        } else if calls >= before && took < self.timeout / 32 {
            (before * 2).min(BATCH_CALLS_MAX)
        } else {
            before
        };
        self.parts.control.set_batch_calls(after);
    }

    fn sleep(&mut self) {
        self.parts.bell.prepare();
        let has_work = !self.lines.is_empty()
            || self.parts.questions.iter().any(|inlet| !inlet.is_empty())
            || self.parts.observations.iter().any(|inlet| !inlet.is_empty());
        // What had no room at a shard is tried again here: it rings when it has taken something.
        self.parts.replies.iter_mut().for_each(Lane::flush);
        if !has_work && !self.parts.control.is_stopping() {
            std::thread::park_timeout(SLEEP_MAX);
        }
        self.parts.bell.awake();
    }
}
