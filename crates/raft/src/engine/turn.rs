//! What there is to do since the last turn, taken out of raft-rs.
//!
//! Its own `RawNode` does this too, and is not used: it keeps a record of each turn until the disk has come, though nothing
//! was to be stored; hands out what is committed only when it is on the own disk; and panics where a role changed between.

use std::mem;

use super::Engine;
use crate::entry::Entry;
use crate::membership::Membership;
use crate::message::{Message, MessageKind};
use crate::outgoing;
use crate::position::Position;
use crate::tail::Vote;
use crate::translate;
use crate::turn::{Snapshot, Turn};

impl Engine {
    /// What there is to do. Store it, send it, apply what is committed; and say when it is stored.
    pub fn turn(&mut self) -> Turn {
        if self.verdict.is_some() {
            return Turn { status: self.status(), ..Turn::default() };
        }
        self.follow_commit();
        let returned = self.settle_waiting();
        self.send_unsent();

        let number = self.pending.begin();
        let install = self.take_install();
        let (truncate_from, entries) = self.take_entries();
        let (vote, is_new_vote) = self.take_vote();
        let last = entries.last().map(|entry| Position { index: entry.index, term: entry.term });
        self.pending.store(last, install.as_ref().map(|snapshot| snapshot.at.index), is_new_vote);

        let (messages, messages_after) = self.take_messages();
        Turn {
            number,
            must_sync: is_new_vote || install.is_some() || !entries.is_empty(),
            install,
            truncate_from,
            entries,
            vote,
            messages,
            messages_after,
            after: self.pending.last_stored(),
            reads: self.take_reads(),
            returned,
            offer: self.offer.take(),
            membership: self.take_membership(),
            status: self.status(),
        }
    }

    fn take_install(&mut self) -> Option<Snapshot> {
        let metadata = self.raft.raft_log.unstable.snapshot.as_ref()?.get_metadata();
        let at = Position { index: metadata.index, term: metadata.term };
        let membership = translate::membership(metadata.get_conf_state());
        self.raft.mut_store().install(at, membership.clone());
        self.raft.raft_log.stable_snap(at.index);
        Some(Snapshot { at, membership })
    }

    /// From here on raft-rs finds them among the headers. That they are on disk it hears by `persisted`.
    fn take_entries(&mut self) -> (Option<u64>, Vec<Entry>) {
        let entries: Vec<Entry> = self.raft.raft_log.unstable_entries().iter().map(translate::from_raft).collect();
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return (None, entries);
        };
        let is_truncated = self.raft.mut_store().append(&entries);
        self.raft.raft_log.stable_entries(last.index, last.term);
        (is_truncated.then_some(first.index), entries)
    }

    /// The vote record where it changed, and whether more than the commit index did.
    fn take_vote(&mut self) -> (Option<Vote>, bool) {
        let raft = &self.raft;
        let vote = Vote { term: raft.term, voted_for: raft.vote, commit: raft.raft_log.committed };
        let told = mem::replace(&mut self.told_vote, vote);
        ((vote != told).then_some(vote), (vote.term, vote.voted_for) != (told.term, told.voted_for))
    }

    /// What may go at once, and what waits for the disk.
    fn take_messages(&mut self) -> (Vec<Message>, Vec<Message>) {
        let (mut at_once, mut after) = (Vec::new(), Vec::new());
        let is_free = self.pending.is_all_durable();
        let is_term_durable = self.pending.is_vote_durable();
        for message in mem::take(&mut self.raft.msgs) {
            let Some(message) = translate::message_from_raft(&message) else {
                continue;
            };
            if message.kind == MessageKind::AskVote {
                self.asked_in = message.term;
            }
            let may_go = is_free || (is_term_durable && outgoing::goes_at_once(message.kind));
            outgoing::push(message, self.bound, if may_go { &mut at_once } else { &mut after });
        }
        (at_once, after)
    }

    fn take_membership(&mut self) -> Option<Membership> {
        let membership = self.raft.store().membership();
        if self.told_membership.as_ref() == Some(membership) {
            return None;
        }
        self.told_membership = Some(membership.clone());
        self.told_membership.clone()
    }
}
