//! What a message means at this place of this log: raft-rs panics where a leader's word and the log cannot both be true.

use raft::{Raft, StateRole};

use crate::headers::Headers;
use crate::message::{Message, MessageKind};
use crate::refusal::{Fault, Refusal};
use crate::verdict::Verdict;

/// Compares a well-formed message with the log and the term that it comes to.
///
/// # Errors
/// `Refused`: the sender cannot say that. `Stopped`: the sender leads, and this log is not what it should be.
pub(crate) fn check(raft: &Raft<Headers>, message: &Message) -> Result<(), Fault> {
    if message.to != raft.id {
        return Err(Refusal::NotForUs { to: message.to, own: raft.id }.into());
    }
    if message.term < raft.term {
        // raft-rs drops it, or tells the sender which term it is.
        return Ok(());
    }
    match message.kind {
        MessageKind::Append | MessageKind::Snapshot => {
            check_leader(raft, message)?;
            check_committed(raft, message)
        }
        MessageKind::Heartbeat => {
            check_leader(raft, message)?;
            check_acknowledged(raft, message)
        }
        MessageKind::Lead if message.term != raft.term || raft.leader_id != message.from => {
            Err(Refusal::Unasked { from: message.from }.into())
        }
        MessageKind::Appended | MessageKind::HeartbeatAnswer | MessageKind::Vote | MessageKind::PreVote => {
            check_answer(raft, message)
        }
        MessageKind::Lead | MessageKind::AskVote | MessageKind::AskPreVote => Ok(()),
    }
}

/// There is one leader a term, and it is nobody else once it is known.
fn check_leader(raft: &Raft<Headers>, message: &Message) -> Result<(), Fault> {
    let is_known = raft.leader_id != 0 && raft.leader_id != message.from;
    if message.term == raft.term && is_known {
        let (from, term, leader) = (message.from, message.term, raft.leader_id);
        return Err(Refusal::SecondLeader { from, term, leader }.into());
    }
    Ok(())
}

/// A heartbeat's commit index is at most what this replica acknowledged: it must have that.
fn check_acknowledged(raft: &Raft<Headers>, message: &Message) -> Result<(), Fault> {
    let last = raft.raft_log.last_index();
    if message.commit > last {
        return Err(Verdict::Lost { by: message.from, acknowledged: message.commit, last }.into());
    }
    Ok(())
}

/// A leader has all that is committed: where its entries and committed ones here meet they are the same.
fn check_committed(raft: &Raft<Headers>, message: &Message) -> Result<(), Fault> {
    let entries = message.entries.iter().map(|entry| (entry.index, entry.term));
    let positions = std::iter::once((message.index, message.index_term)).chain(entries);
    for (index, theirs) in positions.take_while(|(index, _)| *index <= raft.raft_log.committed) {
        // 0: before the first entry, or compacted. What is there is not known any more.
        let ours = raft.raft_log.term(index).unwrap_or(0);
        if ours != 0 && ours != theirs {
            return Err(Verdict::Diverged { by: message.from, index, ours, theirs }.into());
        }
    }
    Ok(())
}

fn check_answer(raft: &Raft<Headers>, message: &Message) -> Result<(), Fault> {
    let from = message.from;
    if raft.prs().get(from).is_none() {
        return Err(Refusal::UnknownPeer { from }.into());
    }
    let last = raft.raft_log.last_index();
    let is_to_leader = raft.state == StateRole::Leader && message.term == raft.term;
    if message.kind == MessageKind::Appended && is_to_leader && message.index > last {
        return Err(Refusal::BeyondLog { from, acknowledged: message.index, last }.into());
    }
    Ok(())
}
