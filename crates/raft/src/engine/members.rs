//! Who belongs to the group: one change at a time, and a joint membership where several nodes change at once.

use raft::Changer;

use super::Engine;
use crate::bounds::{CHANGES_MAX, MEMBERS_MAX};
use crate::entry::EntryKind;
use crate::error::NotDone;
use crate::membership::Change;
use crate::translate;

impl Engine {
    /// Proposes changes of the membership; the Raft index of the entry. They count when that is committed and on this
    /// disk ([`Turn::membership`](crate::Turn::membership)). Several make it joint first, and the leader ends that by an
    /// entry of its own.
    ///
    /// # Errors
    /// `NotLeader`, `ChangeUnderWay` (retry), `TermNotCommitted` (retry: two leaders that each change one node of what they know
    /// could have majorities without a node in common), `ChangeInvalid`, `Stopped`.
    pub fn propose_membership(&mut self, changes: &[Change]) -> Result<u64, NotDone> {
        self.leading()?;
        if !self.raft.commit_to_current_term() {
            return Err(NotDone::TermNotCommitted);
        }
        let is_joint = self.membership().is_joint();
        if self.raft.lead_transferee.is_some() || self.raft.has_pending_conf() || is_joint {
            return Err(NotDone::ChangeUnderWay);
        }
        if !self.can_become(changes) {
            return Err(NotDone::ChangeInvalid);
        }
        self.raft.pending_conf_index = self.raft.raft_log.last_index() + 1;
        Ok(self.append(&EntryKind::Membership(changes.to_vec())))
    }

    fn can_become(&self, changes: &[Change]) -> bool {
        let count = self.raft.prs().iter().len() + changes.len();
        if changes.is_empty() || changes.len() > CHANGES_MAX || count > MEMBERS_MAX {
            return false;
        }
        let conf_change = translate::conf_change(changes);
        let mut changer = Changer::new(self.raft.prs());
        let changed = match conf_change.enter_joint() {
            Some(auto_leave) => changer.enter_joint(auto_leave, conf_change.get_changes()),
            None => changer.simple(conf_change.get_changes()),
        };
        changed.is_ok() && changes.iter().all(|change| change.node != 0)
    }

    /// Membership entries of these indexes count from now on. One that cannot be made changes nothing, on any replica.
    pub(super) fn apply_memberships(&mut self, first: u64, last: u64) {
        for (index, changes) in self.raft.store().changes_in(first..last + 1) {
            let Ok(state) = self.raft.apply_conf_change(&translate::conf_change(&changes)) else {
                continue;
            };
            let membership = translate::membership(&state);
            let is_voter = membership.is_voter(self.raft.id);
            self.raft.mut_store().note_membership(index, membership);
            if !is_voter && self.raft.state != raft::StateRole::Follower {
                // raft-rs would go on as leader, and panic at its own acknowledgement.
                self.raft.become_follower(self.raft.term, raft::INVALID_ID);
            }
        }
    }
}
