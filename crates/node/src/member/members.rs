//! What the raft thread does about members: who joins, who is taken out, and that all groups follow.

use std::collections::BTreeSet;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use lapwing_cluster::{Entry, NodeId, Standing};
use lapwing_peer::GroupNumber;
use lapwing_raft::Role;
use lapwing_replica::check_removal;

use super::core::Core;
use super::error::MemberError;
use super::joining::{Next, judge};
use super::raft_thread::RaftThread;
use crate::log::now_us;

/// The wall clock, in milliseconds.
pub(super) fn wall_ms() -> u64 {
    u64::try_from(now_us() / 1_000).unwrap_or(0)
}

impl RaftThread {
    /// Somebody has this node say something.
    pub(super) fn take_wish(&mut self, entry: Entry, reply: SyncSender<Result<(), MemberError>>) {
        self.core.desk.wish(entry, reply, Instant::now());
    }

    /// Decides on who waits: one entry of metadata at a time. What is to be proposed, if anything is.
    pub(super) fn next_of_desk(&mut self) -> Option<Entry> {
        match self.core.desk.next()? {
            Next::Wish(entry) => match self.core.check_wish(&entry) {
                Ok(()) => {
                    self.core.desk.proposed_wish(&entry);
                    Some(entry)
                }
                Err(why) => {
                    self.core.desk.refuse_wish(&entry, why);
                    None
                }
            },
            Next::Ask(number, asked) => {
                match judge(&self.core.cluster, self.core.desk.authority.as_ref(), &asked, wall_ms()) {
                    Ok(entry) => {
                        self.core.desk.proposed_ask(number, entry.clone());
                        Some(entry)
                    }
                    Err(refused) => {
                        self.core.desk.refuse_ask(number, &refused);
                        None
                    }
                }
            }
        }
    }

    /// Whoever does not lead sends those away who wait.
    pub(super) fn tend_desk(&mut self) {
        self.core.desk.sweep(Instant::now());
        if self.core.desk.is_waiting() && self.core.replica.status(GroupNumber::METADATA).role != Role::Leader {
            self.core.send_away();
        }
    }

    /// Brings to the groups what the metadata says, where this node leads them all. Gives what the metadata lacks.
    pub(super) fn tend_membership(&mut self) -> Option<Entry> {
        let entry = self.core.replica.follow_members(&self.core.cluster);
        entry.filter(|entry| !self.core.is_refused(entry))
    }
}

impl Core {
    /// Whether this may be said at all, before the metadata judges it.
    fn check_wish(&self, entry: &Entry) -> Result<(), MemberError> {
        let Entry::Removed { node } = entry else { return Ok(()) };
        let connected: BTreeSet<NodeId> = self.introduced.keys().map(|node| NodeId(node.value())).collect();
        let own = NodeId(self.own.node.value());
        check_removal(&self.cluster, own, &connected, *node).map_err(MemberError::Unsaid)
    }

    fn send_away(&mut self) {
        let leader = u8::try_from(self.replica.status(GroupNumber::METADATA).leader).ok();
        let member = leader.and_then(|leader| self.cluster.member(NodeId(leader)));
        let address = member.and_then(|member| Some((member.id.0, member.said.addresses.first()?.as_str())));
        self.desk.send_away(address);
    }

    /// Whether a node was removed, and is in no group any more: until then its words may be needed to get it out.
    pub(super) fn is_out(&self, node: NodeId) -> bool {
        let is_gone = self.cluster.member(node).is_some_and(|member| member.standing == Standing::Gone);
        is_gone && !self.replica.is_in_any_group(node.0)
    }
}
