//! What is asked, and what comes back.

use std::sync::Arc;

use crate::index::MemberIndex;
use crate::signals::Signals;
use crate::work::Work;

/// The way to whoever answers and back. It never blocks.
pub trait Desk: Send {
    /// Hands a question over; false: too many wait there already.
    fn ask(&mut self, question: Question) -> bool;

    /// The next answer that has come.
    fn answer(&mut self) -> Option<Answer>;

    /// Whether one has come.
    fn has_answers(&self) -> bool;
}

/// Who should get this message?
#[derive(Clone, Debug)]
pub struct Question {
    /// Comes back with the answer; each question has its own.
    pub id: u64,
    /// Which message of the group.
    pub number: u64,
    /// The message, as dispatch sees it.
    pub work: Work,
    /// Messages that wait in the group's queue.
    pub backlog: usize,
    /// Everybody who is here, when the question was asked. What is asked at once shares one.
    pub members: Arc<[MemberState]>,
}

/// One member, as it was when the question was asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemberState {
    /// Who, for the answer.
    pub member: MemberIndex,
    /// The stable hash of its client id, for the answer.
    pub identity: u64,
    /// Round trip, milliseconds.
    pub rtt_ms: f64,
    /// Work on one message, milliseconds; with several workers: of one of them.
    pub service_ms: f64,
    /// By how much its oldest message is overdue, milliseconds.
    pub overdue_ms: f64,
    /// Messages that it has and has not acknowledged.
    pub inflight: u32,
    /// Most that it may have.
    pub limit: u32,
    /// How many it works on at a time.
    pub workers: u32,
    /// It may have one more.
    pub can_take: bool,
    /// It acknowledges on receipt: its work is not known.
    pub is_blind: bool,
}

/// What comes back for one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Of the question.
    pub id: u64,
    /// Of the question.
    pub number: u64,
    /// What was decided.
    pub verdict: Verdict,
}

/// What was decided about one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This member gets it, if it still may.
    To {
        /// Who, as in the question.
        member: MemberIndex,
        /// And its identity: places are used again.
        identity: u64,
    },
    /// Nobody for now: it is asked for again after as long as an answer may take.
    Wait,
    /// There is no answer: the fallback decides.
    Failed,
}

/// What was counted since the strategy began. Every question that was asked is answered, held, failed or timed out, or its
/// message went without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeferredCounters {
    /// Questions asked.
    pub asked: u64,
    /// Answers that named a member in time.
    pub answered: u64,
    /// Answers that let the message wait.
    pub held: u64,
    /// Answers that were none: the strategy raised, or named nobody who was asked about. The fallback decided.
    pub failed: u64,
    /// Questions without an answer in time. The fallback decided.
    pub timed_out: u64,
    /// Answers that came after that, or to nothing that was asked; ignored.
    pub late: u64,
    /// Answers that named a member that had gone or was full when it was the message's turn. The fallback decided.
    pub unable: u64,
    /// Messages that there was no room to ask for. The fallback decided.
    pub overflowed: u64,
}

impl MemberState {
    pub(crate) fn of(member: MemberIndex, signals: &Signals, now_ms: f64) -> MemberState {
        MemberState {
            member,
            identity: signals.identity(),
            rtt_ms: signals.rtt_ms(),
            service_ms: signals.service_ms(),
            overdue_ms: signals.overdue_ms(now_ms),
            inflight: signals.inflight(),
            limit: signals.limit(),
            workers: signals.workers(),
            can_take: signals.can_take(now_ms),
            is_blind: signals.is_blind(),
        }
    }
}
