//! Passwords that have to be checked: tens of milliseconds each, by design, and so never on a data thread.
//!
//! A shard asks and puts the connection on hold; the answer comes back over a lane. What needs no such work (a password
//! verified lately, a token, a certificate, nobody in particular) is decided on the shard and never waits here, unless its
//! address has guessed. One thread decides who is next ([`queue`]: in turns, so that one address keeps out nobody), some
//! others check. Who was wrong is answered later and later, and at last barred ([`failures`]); the connection waits for
//! its refusal on its shard, without its bytes. How many wait, for either, is bounded. Whoever has run out of time for its
//! CONNECT meanwhile is left out.
//!
//! Where somebody else is asked about those whom the users file does not have, they wait in a line of their own, in the same
//! turns, for one of so many questions that may be under way ([`asking`]): a slow answer keeps nobody from having a password
//! checked.
//!
//! Tokens (JWT) are checked here too, in the same turns. They cannot be guessed, so a bad one bars nobody, and is refused at the
//! pace of other refusals.
//!
//! What comes over HTTP waits in the same lines, and counts as one guess more of its address; who asks is called back
//! ([`awaiting`]).

mod asking;
mod awaiting;
mod control;
mod failures;
mod feed;
mod outside;
mod pace;
mod queue;
mod source;
mod table;
mod thread;
mod tokens;
mod turns;
mod warden;
mod words;

use std::sync::Arc;
use std::sync::mpsc::channel;

pub(crate) use awaiting::Then;
pub(crate) use control::{BarAsk, PasswordControl};
pub(crate) use failures::Bar;
pub(crate) use feed::{AskedFor, DelayPlace, Denied, Outside, PasswordFeed};
pub(crate) use outside::check_outside;
pub(crate) use source::Source;
pub(crate) use thread::{PasswordThread, PasswordWorker};

use crate::config::Limits;
use crate::hooks::Backlog;
use crate::mailbox::Bell;
use crate::shared::Shared;
use crate::side_thread::lay_side_lanes;
use asking::Asking;
use awaiting::Awaiting;
use feed::{Delays, Suspects};
use warden::Warden;

/// What may lie in the lanes on its way to the queue, where it is looked at who has to go.
const ON_THE_WAY_MAX: u64 = 4096;

/// The threads, and what ends them.
pub(crate) struct PasswordParts {
    pub(crate) thread: PasswordThread,
    pub(crate) workers: Vec<PasswordWorker>,
    pub(crate) control: Arc<PasswordControl>,
}

/// For each shard its feed; and the threads.
pub(crate) fn lay_passwords(shared: &Arc<Shared>, shards: &[Bell]) -> (Vec<PasswordFeed>, PasswordParts) {
    let (limits, guesses) = (&shared.config.limits, &shared.config.guesses);
    let (feeds, desk) = lay_side_lanes(shards);
    let control = Arc::new(PasswordControl {
        bell: desk.bell(),
        stop: false.into(),
        backlog: Backlog::new(2 * u64::from(limits.password_checks_max) + ON_THE_WAY_MAX, u64::MAX),
        suspects: Suspects::default(),
        delays: Delays { most: u64::from(guesses.delayed_max), ..Delays::default() },
        asked: Default::default(),
        callers: Default::default(),
        awaiting: Awaiting::new(limits),
        results: 0.into(),
        checked: 0.into(),
        wrong: 0.into(),
        refused: 0.into(),
        figures: Default::default(),
        tokens: Default::default(),
        outside: Default::default(),
    });
    let feeds = feeds.into_iter().map(|feed| PasswordFeed { feed, last_ticket: 0, control: control.clone() }).collect();
    let (results, done) = channel();
    let (mut workers, mut lanes) = (vec![], vec![]);
    for number in 0..thread_count(limits) {
        let (lane, asks) = channel();
        lanes.push(lane);
        let (shared, control, results) = (shared.clone(), control.clone(), results.clone());
        workers.push(PasswordWorker { number, shared, control, asks, results });
    }
    let thread = PasswordThread {
        asking: Asking::new(control.clone(), results.clone()),
        shared: shared.clone(),
        desk,
        control: control.clone(),
        warden: Warden::new(guesses.clone(), limits.password_checks_max as usize),
        idle: (0..lanes.len()).collect(),
        workers: lanes,
        token_words: Default::default(),
        results: done,
        results_taken: 0,
        looked_ms: 0,
    };
    (feeds, PasswordParts { thread, workers, control })
}

/// Half of the cores, at least one: they give way to the data threads, but memory's bandwidth is everybody's.
fn thread_count(limits: &Limits) -> usize {
    match limits.password_threads {
        0 => std::thread::available_parallelism().map_or(1, |cores| cores.get() / 2).max(1),
        threads => threads as usize,
    }
}
