//! What operators ask of the sessions here, and what they have done with them.
//!
//! A list looks at every session of the shard, and there may be a million; a queue that is to be emptied may be as long.
//! Both go in shares, one a turn and one question after the other, so that no client waits for an operator. What an order
//! has ended is answered when that is on disk: it does not come back after a crash.

pub(super) mod events;
pub(super) mod sys;

mod list;
mod show;

use std::collections::VecDeque;

use lapwing_codec::ReasonCode;
use lapwing_session::CommitToken;

use super::Shard;
use super::room::Room;
use crate::desk::Reply;
use crate::events::EventQueue;
use crate::session_reports::{Emptied, SessionAsk};
use list::Listing;
use sys::Sys;

/// Messages of an emptied queue that go in one turn.
const MESSAGES_PER_SHARE: usize = 1024;

/// What is said to operators: because they ask, and of its own accord.
pub(super) struct OperatorRoom {
    /// What operators want of the sessions here.
    pub(super) requests: OperatorRequests,
    /// Where this shard publishes the `$SYS` tree.
    pub(super) sys: Option<Sys>,
    /// What clients have done, to be published.
    pub(super) happenings: EventQueue,
}

impl Room for OperatorRoom {
    fn has_work(shard: &mut Shard) -> bool {
        let committed = shard.clients.commit_tokens.committed();
        shard.operators.requests.has_work(committed)
            || shard.may_publish_events()
            || shard.shared.report_desk(shard.id.index()).is_asked()
            || shard.shared.session_desk(shard.id.index()).is_asked()
    }

    fn is_settled(shard: &mut Shard) -> bool {
        shard.operators.happenings.is_empty()
    }
}

/// What operators have asked or ordered and were not answered yet.
#[derive(Default)]
pub(super) struct OperatorRequests {
    line: VecDeque<Work>,
    /// Done, and answered when the token is committed: what an order has ended does not come back after a crash.
    done: VecDeque<(CommitToken, Done)>,
}

/// One question or order, as far as it was worked on.
enum Work {
    Ask(SessionAsk),
    List(Box<Listing>),
    Empty(Emptying),
}

/// A queue on its way to being empty.
struct Emptying {
    client_id: Box<str>,
    /// Of those that waited when it was asked for.
    left: usize,
    emptied: Emptied,
    reply: Reply<Option<Emptied>>,
}

/// An answer that waits for the disk.
enum Done {
    Ended(Reply<bool>),
    Emptied(Emptied, Reply<Option<Emptied>>),
    Renewed(Reply<()>),
}

impl OperatorRequests {
    /// Whether a turn would get something done; `committed`: the last token that is.
    pub(super) fn has_work(&self, committed: CommitToken) -> bool {
        !self.line.is_empty() || self.done.front().is_some_and(|(token, _)| *token <= committed)
    }
}

impl Shard {
    /// Takes new questions, works on one of them, and answers orders that the disk has.
    pub(super) fn serve_operators(&mut self) {
        let new = self.shared.session_desk(self.id.index()).take();
        self.operators.requests.line.extend(new.into_iter().map(Work::Ask));
        self.answer_done();
        if let Some(work) = self.operators.requests.line.pop_front()
            && let Some(rest) = self.work_on(work)
        {
            // Behind the others: what is asked of one session does not wait for a list of all.
            self.operators.requests.line.push_back(rest);
        }
    }

    fn answer_done(&mut self) {
        let committed = self.clients.commit_tokens.committed();
        let is_committed =
            |done: &VecDeque<(CommitToken, Done)>| done.front().is_some_and(|(token, _)| *token <= committed);
        while is_committed(&self.operators.requests.done)
            && let Some((_, done)) = self.operators.requests.done.pop_front()
        {
            match done {
                Done::Ended(reply) => reply.send(true),
                Done::Emptied(emptied, reply) => reply.send(Some(emptied)),
                Done::Renewed(reply) => reply.send(()),
            }
        }
    }

    /// One share; returns what is left of it.
    fn work_on(&mut self, work: Work) -> Option<Work> {
        match work {
            Work::Ask(SessionAsk::List(query, reply)) => Some(Work::List(Box::new(Listing::new(query, reply)))),
            Work::Ask(SessionAsk::Show(client_id, queued_max, reply)) => {
                reply.send(self.show_session(&client_id, queued_max));
                None
            }
            Work::Ask(SessionAsk::End(client_id, reply)) => {
                self.end_by_order(&client_id, reply);
                None
            }
            Work::Ask(SessionAsk::Kick(client_id, reply)) => {
                reply.send(self.kick_by_order(&client_id));
                None
            }
            Work::Ask(SessionAsk::Empty(client_id, reply)) => self.begin_to_empty(client_id, reply),
            Work::Ask(SessionAsk::RenewGroups(reply)) => {
                self.renew_groups_by_order(reply);
                None
            }
            Work::List(listing) => self.list_on(listing).map(Work::List),
            Work::Empty(emptying) => self.empty_on(emptying),
        }
    }

    /// Ends a session and its connection, as if its time were over: its will is published.
    fn end_by_order(&mut self, client_id: &str, reply: Reply<bool>) {
        let Some(key) = self.clients.find(client_id) else { return reply.send(false) };
        // Of one that ends with its connection the log may have the will: it must not be published again after a crash.
        let is_logged = self.clients.row(key).is_some_and(|row| row.kept_as.logged().is_some());
        self.expel(key, ReasonCode::AdministrativeAction, "an operator has ended the session");
        self.counters.traffic.sessions_ended_by_order.add(1);
        let Some(reply) = self.answer_with_will(client_id, reply) else { return };
        if is_logged {
            self.answer_ended(reply);
        } else {
            reply.send(true);
        }
    }

    /// That a session is over is being written down: who has ended it hears of it when that is done.
    pub(super) fn answer_ended(&mut self, reply: Reply<bool>) {
        let token = self.clients.commit_tokens.take();
        self.operators.requests.done.push_back((token, Done::Ended(reply)));
    }

    /// Ends a client's connection; it may come again at once, and its session is there if it was to stay.
    fn kick_by_order(&mut self, client_id: &str) -> bool {
        let key = self.clients.find(client_id);
        let Some(index) = key.and_then(|key| self.clients.row(key)).and_then(|row| row.connection()) else {
            return false;
        };
        self.dismiss(index, ReasonCode::AdministrativeAction, "an operator has closed the connection");
        true
    }

    /// A table was changed by an order: whoever gave it hears of it when it holds after a crash too.
    fn renew_groups_by_order(&mut self, reply: Reply<()>) {
        self.renew_groups();
        if self.clients.keeping.is_none() {
            return reply.send(());
        }
        let token = self.clients.commit_tokens.take();
        self.operators.requests.done.push_back((token, Done::Renewed(reply)));
    }

    fn begin_to_empty(&mut self, client_id: Box<str>, reply: Reply<Option<Emptied>>) -> Option<Work> {
        let key = self.clients.find(&client_id);
        let Some(row) = key.and_then(|key| self.clients.row(key)) else {
            reply.send(None);
            return None;
        };
        let left = row.session.queued_messages();
        self.empty_on(Emptying { client_id, left, emptied: Emptied::default(), reply })
    }

    /// A share of what waits for a client goes. By its name: it may have connected, and have another session, meanwhile.
    fn empty_on(&mut self, mut emptying: Emptying) -> Option<Work> {
        let share = emptying.left.min(MESSAGES_PER_SHARE);
        let key = self.clients.find(&emptying.client_id);
        let went = key.and_then(|key| self.clients.with(key, |session, io| session.empty_queue(share, io)));
        let (messages, bytes) = went.unwrap_or_default();
        emptying.emptied.messages += messages as u64;
        emptying.emptied.bytes += bytes;
        emptying.left -= messages;
        if messages > 0 && emptying.left > 0 {
            return Some(Work::Empty(emptying));
        }
        let is_kept = key.and_then(|key| self.clients.kept(key)).is_some();
        if let Some(key) = key {
            // Retained messages may have waited for room in it.
            self.retained.replays.wake(key);
        }
        let Emptying { emptied, reply, .. } = emptying;
        if is_kept {
            let token = self.clients.commit_tokens.take();
            self.operators.requests.done.push_back((token, Done::Emptied(emptied, reply)));
        } else {
            reply.send(Some(emptied));
        }
        None
    }
}
