//! The thread that decides whose password is checked next, and those that check.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lapwing_access::{Claim, Identity, Judgement, Refusal, TokenFault, Work};
use lapwing_codec::ReasonCode;

use super::asking::Asking;
use super::control::{BarAsk, PasswordControl};
use super::feed::{AnswerTo, Checked, Denied, Secret};
use super::queue::Ask;
use super::tokens::{TokenWords, refusal_of};
use super::warden::{Unchecked, Warden};
use crate::niceness::give_way;
use crate::notices::{Line, NoticeKind};
use crate::shared::Shared;
use crate::side_thread::SideDesk;

/// A missed wake-up would show as this delay and not as a hang; and so often it is looked at what is over.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// A password can wait a little, a message cannot: where all cores are busy, about two thirds of what a data thread has.
const NICE: i32 = 2;

/// The thread's state; [`PasswordThread::run`] is its life. It checks nothing itself, and so never keeps anybody waiting.
pub(crate) struct PasswordThread {
    pub(super) shared: Arc<Shared>,
    pub(super) desk: SideDesk<Ask<Secret>, Checked>,
    pub(super) control: Arc<PasswordControl>,
    pub(super) warden: Warden<Secret>,
    /// Each has one password at a time, so that the next one is chosen as late as can be.
    pub(super) workers: Vec<Sender<Ask<Secret>>>,
    pub(super) idle: Vec<usize>,
    pub(super) results: Receiver<Done>,
    pub(super) token_words: TokenWords,
    /// Who asks somebody else.
    pub(super) asking: Asking,
    pub(super) results_taken: usize,
    pub(super) looked_ms: u64,
}

/// A password that was checked.
pub(super) struct Done {
    pub(super) worker: Worker,
    pub(super) ask: Ask<Secret>,
    pub(super) result: Result<Identity, Wrong>,
}

/// Who checked it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worker {
    Here(usize),
    Outside(usize),
}

/// What was wrong.
pub(super) enum Wrong {
    Password(Refusal),
    Token(TokenFault),
    /// Nobody could say; why.
    Unanswered(String),
}

/// One that checks.
pub(crate) struct PasswordWorker {
    pub(super) number: usize,
    pub(super) shared: Arc<Shared>,
    pub(super) control: Arc<PasswordControl>,
    pub(super) asks: Receiver<Ask<Secret>>,
    pub(super) results: Sender<Done>,
}

impl PasswordWorker {
    /// Checks what it is given, until the thread that gives it has ended.
    pub(crate) fn run(self) {
        give_way(NICE);
        while let Ok(ask) = self.asks.recv() {
            let result = self.check(&ask);
            if self.results.send(Done { worker: Worker::Here(self.number), ask, result }).is_err() {
                return;
            }
            self.control.results.fetch_add(1, Ordering::Release);
            self.control.bell.ring();
        }
    }

    fn check(&self, ask: &Ask<Secret>) -> Result<Identity, Wrong> {
        match ask.work {
            Work::Password => self.check_password(ask).map_err(Wrong::Password),
            Work::Token => self.check_token(ask.item.password.as_deref().unwrap_or_default()).map_err(Wrong::Token),
            Work::Outside => Err(Wrong::Unanswered("it was asked here".into())),
        }
    }

    fn check_token(&self, token: &[u8]) -> Result<Identity, TokenFault> {
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let result = self.shared.authority.check_token(token, now_s);
        self.control.tokens.count(&result);
        if result.as_ref().is_err_and(|fault| *fault == TokenFault::UnknownKey) {
            self.shared.token_keys.want();
        }
        result
    }

    fn check_password(&self, ask: &Ask<Secret>) -> Result<Identity, Refusal> {
        let claim = claim(ask);
        // Of an address under suspicion also what is known comes here.
        match self.shared.authority.judge(&claim) {
            Judgement::Granted(identity) => return Ok(identity),
            Judgement::Refused(refusal) => return Err(refusal),
            Judgement::Costly(_) => {}
        }
        let result = self.shared.authority.check(&claim);
        self.control.checked.fetch_add(1, Ordering::Relaxed);
        self.control.wrong.fetch_add(u64::from(result.is_err()), Ordering::Relaxed);
        result
    }
}

fn claim(ask: &Ask<Secret>) -> Claim<'_> {
    let (username, password) = (Some(&*ask.username), ask.item.password.as_deref());
    Claim { username, password, certificate: None, anonymous: false }
}

impl PasswordThread {
    /// Works until the node stops it.
    pub(crate) fn run(mut self) {
        self.desk.begin();
        let control = self.control.clone();
        let _end = control.awaiting.ending();
        while !self.control.stop.load(Ordering::Acquire) {
            let now_ms = self.shared.now_ms();
            self.asking.look(self.shared.authority.outside());
            self.take_results(now_ms);
            self.take_asks(now_ms);
            self.hand_out(now_ms);
            self.serve_operators(now_ms);
            self.tell(now_ms);
            let (control, taken) = (self.control.clone(), self.results_taken);
            self.desk.sleep_while(SLEEP_MAX, || {
                !control.stop.load(Ordering::Acquire)
                    && control.results.load(Ordering::Acquire) == taken
                    && !control.asked.is_asked()
                    && !control.callers.is_asked()
            });
        }
    }

    fn take_results(&mut self, now_ms: u64) {
        while let Ok(Done { worker, ask, result }) = self.results.try_recv() {
            self.results_taken += 1;
            match worker {
                Worker::Here(worker) => self.idle.push(worker),
                Worker::Outside(worker) => self.asking.is_back(worker),
            }
            self.settle(ask, result, now_ms);
        }
    }

    /// Answers, and notes what that says of who asked.
    fn settle(&mut self, ask: Ask<Secret>, result: Result<Identity, Wrong>, now_ms: u64) {
        let result = match result {
            Ok(identity) => {
                // A token proves nothing about the password of that name.
                if ask.work != Work::Token {
                    self.warden.right(ask.source, &ask.username, now_ms);
                }
                Ok(identity)
            }
            Err(Wrong::Token(fault)) => {
                self.token_words.refused(ask.source, fault);
                let wait_ms = self.warden.refused(ask.source, now_ms);
                Err(Denied { reason: refusal_of(fault).reason(), wait_ms, is_told: true })
            }
            Err(Wrong::Unanswered(why)) => {
                self.asking.words.failed(why);
                let wait_ms = self.warden.refused(ask.source, now_ms);
                Err(Denied { reason: Refusal::Unavailable.reason(), wait_ms, is_told: true })
            }
            Err(Wrong::Password(refusal)) => {
                let wait_ms = self.warden.wrong(ask.source, &ask.username, now_ms);
                if self.warden.failures.is_suspect(ask.source, now_ms) {
                    self.control.suspects.insert(ask.source);
                }
                Err(Denied { reason: refusal.reason(), wait_ms, is_told: true })
            }
        };
        self.answer(ask.item, result);
    }

    fn take_asks(&mut self, now_ms: u64) {
        for ask in self.control.callers.take() {
            self.take_ask(ask, now_ms);
        }
        while let Some((asking, mut ask)) = self.desk.next() {
            if let AnswerTo::Shard { shard, .. } = &mut ask.item.to {
                *shard = asking;
            }
            self.take_ask(ask, now_ms);
        }
    }

    fn take_ask(&mut self, ask: Ask<Secret>, now_ms: u64) {
        if self.warden.failures.is_at_home(ask.source, &ask.username, now_ms)
            && let Judgement::Granted(identity) = self.shared.authority.judge(&claim(&ask))
        {
            return self.answer(ask.item, Ok(identity));
        }
        if ask.work == Work::Outside {
            // A reload may have come since the turn began: who asks after it is judged by it.
            self.asking.look(self.shared.authority.outside());
        }
        if ask.work == Work::Outside
            && self.warden.admits(&ask, now_ms)
            && let Some(remembered) = self.asking.remembered(&ask)
        {
            return self.settle(ask, remembered.map_err(Wrong::Password), now_ms);
        }
        match self.warden.arrived(ask, now_ms) {
            None => {}
            Some(Unchecked::Displaced { ask, wait_ms }) => {
                let reason = ReasonCode::QuotaExceeded;
                self.answer(ask.item, Err(Denied { reason, wait_ms, is_told: false }));
            }
            Some(Unchecked::Barred(ask)) => {
                let reason = ReasonCode::Banned;
                self.answer(ask.item, Err(Denied { reason, wait_ms: 0, is_told: false }));
            }
        }
    }

    fn answer(&mut self, secret: Secret, result: Result<Identity, Denied>) {
        self.control.backlog.release(1, 0);
        match secret.to {
            AnswerTo::Shard { shard, index, ticket } => self.desk.answer(shard, Checked { index, ticket, result }),
            AnswerTo::Caller(number) => self.control.awaiting.answer(number, result),
        }
    }

    fn hand_out(&mut self, now_ms: u64) {
        let late_before = self.warden.counts.late;
        while self.asking.has_place()
            && let Some(ask) = self.warden.next_outside(now_ms)
        {
            if let Err(ask) = self.asking.ask(ask) {
                self.settle(ask, Err(Wrong::Unanswered("no thread to ask with".into())), now_ms);
            }
        }
        while let Some(worker) = self.idle.pop() {
            let Some(ask) = self.warden.next(now_ms) else {
                self.idle.push(worker);
                break;
            };
            // It ends with this thread, or the node ends with it.
            let _ = self.workers[worker].send(ask);
        }
        self.control.backlog.release(self.warden.counts.late - late_before, 0);
    }

    fn serve_operators(&mut self, now_ms: u64) {
        for ask in self.control.asked.take() {
            match ask {
                BarAsk::List(reply) => reply.send(self.warden.bars(now_ms)),
                BarAsk::Lift(what, reply) => {
                    reply.send(self.warden.failures.lift(&what, now_ms));
                    self.look(now_ms);
                }
            }
        }
    }

    fn tell(&mut self, now_ms: u64) {
        for line in self
            .warden
            .words
            .take(now_ms)
            .into_iter()
            .chain(self.token_words.take(now_ms).map(Line::from))
            .chain(self.asking.words.take(now_ms).map(Line::from))
        {
            self.shared.notices.tell_with(NoticeKind::Refused, self.shared.now_ms(), || line);
        }
        self.control.outside.tell(
            self.warden.waiting_outside(),
            self.asking.under_way(),
            self.asking.remembered_count(),
        );
        self.control.figures.tell(self.warden.counts, self.warden.waiting(), self.warden.failures.evicted());
        if now_ms >= self.looked_ms + SLEEP_MAX.as_millis() as u64 {
            self.look(now_ms);
        }
    }

    /// Looks at what may be over: suspicions, bars, failures.
    fn look(&mut self, now_ms: u64) {
        self.looked_ms = now_ms;
        self.control.awaiting.look(now_ms);
        self.warden.failures.sweep(now_ms);
        let failures = &self.warden.failures;
        self.control.suspects.retain(|source| failures.is_suspect(source, now_ms));
        self.control.figures.tell_bars(failures.bars(now_ms).len());
    }
}
