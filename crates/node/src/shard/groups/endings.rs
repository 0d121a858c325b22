//! A group is over: what it lost stays counted, and what waited in it is told.

use lapwing_groups::DropReason;

use super::Shard;
use super::owned::OwnedGroup;
use crate::notices::NoticeKind;

impl Shard {
    /// Takes over what a group that is over has counted as dropped, and tells the operator of messages that waited in it.
    pub(super) fn close_account(&self, owned: &OwnedGroup) {
        let counters = owned.group.counters();
        self.counters.ended_groups.add(counters);
        let waited = counters.dropped(DropReason::GroupEnded);
        if waited > 0 {
            let (name, filter) = (&owned.name, &owned.filter);
            let line = format!(
                "group {name} on {filter} has ended, and {waited} messages with it that waited: nothing declares it, and it \
                 has no member any more (dropped as group_ended)"
            );
            self.shared.tell(NoticeKind::Lost, line);
        }
    }
}
