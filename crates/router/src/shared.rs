//! Shared subscriptions: of each group, one member gets the message.

use std::hash::Hash;

use hashbrown::HashMap;

use crate::arena::Arena;
use crate::entries::{Entries, Entry};
use crate::tree::{FilterTree, Insertion, Removal};

/// A group's number while it has members: one `$share` name together with one filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(u32);

struct Group<M, O> {
    members: Entries<M, O>,
    /// Where the next turn starts; may lie past the end.
    turn: usize,
}

impl<M, O> Default for Group<M, O> {
    fn default() -> Self {
        Group { members: Entries::default(), turn: 0 }
    }
}

/// All shared groups, with a fair turn for each member.
pub struct SharedGroups<M, O> {
    groups: Arena<Group<M, O>>,
    /// "GROUP/FILTER"; a group's name has no '/', so the pair can be told apart.
    names: HashMap<Box<str>, GroupId>,
    filters: FilterTree<GroupId, ()>,
}

impl<M: Copy + Eq + Hash, O: Copy> Default for SharedGroups<M, O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Copy + Eq + Hash, O: Copy> SharedGroups<M, O> {
    /// No groups.
    pub fn new() -> Self {
        SharedGroups { groups: Arena::new(), names: HashMap::new(), filters: FilterTree::with_cache(1024) }
    }

    /// Joins `member` to the group, or replaces its options. `FirstOfFilter` means: first member of this group.
    pub fn insert(&mut self, group: &str, filter: &str, member: M, options: O) -> Insertion {
        let name = name_of(group, filter);
        let id = match self.names.get(&*name) {
            Some(&id) => id,
            None => {
                let id = GroupId(self.groups.insert(Group::default()));
                self.names.insert(name, id);
                self.filters.insert(filter, id, ());
                id
            }
        };
        let members = &mut self.groups[id.0].members;
        match (members.is_empty(), members.insert(member, options)) {
            (_, false) => Insertion::Replaced,
            (true, true) => Insertion::FirstOfFilter,
            (false, true) => Insertion::NewSubscriber,
        }
    }

    /// Takes `member` out of the group. `LastOfFilter` means: the group is gone.
    pub fn remove(&mut self, group: &str, filter: &str, member: M) -> Removal {
        let name = name_of(group, filter);
        let Some(&id) = self.names.get(&*name) else { return Removal::NotFound };
        let members = &mut self.groups[id.0].members;
        if !members.remove(member) {
            return Removal::NotFound;
        }
        if !members.is_empty() {
            return Removal::Removed;
        }
        self.names.remove(&*name);
        self.filters.remove(filter, id);
        self.groups.remove(id.0);
        Removal::LastOfFilter
    }

    /// Offers `topic` to one member of each group whose filter matches.
    ///
    /// `offer` delivers and returns true, or returns false (the member is offline, say): then the next member is asked.
    /// `refused` is called for a group all of whose members said no.
    pub fn dispatch(
        &mut self,
        topic: &str,
        mut offer: impl FnMut(GroupId, &Entry<M, O>) -> bool,
        mut refused: impl FnMut(GroupId),
    ) {
        let groups = &mut self.groups;
        self.filters.matches(topic, |matched| {
            let id = matched[0].subscriber;
            if !groups[id.0].take_turn(|member| offer(id, member)) {
                refused(id);
            }
        });
    }

    /// Whether any group's filter matches `topic`.
    pub fn has_match(&mut self, topic: &str) -> bool {
        self.filters.has_match(topic)
    }

    /// The members of one group, in the order of their turns. Empty for a group that is gone.
    pub fn members(&self, group: &str, filter: &str) -> &[Entry<M, O>] {
        self.names.get(&*name_of(group, filter)).map_or(&[], |id| self.groups[id.0].members.as_slice())
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl<M: Copy + Eq + Hash, O: Copy> Group<M, O> {
    fn take_turn(&mut self, mut offer: impl FnMut(&Entry<M, O>) -> bool) -> bool {
        let members = self.members.as_slice();
        for step in 0..members.len() {
            let at = (self.turn + step) % members.len();
            if offer(&members[at]) {
                self.turn = at + 1;
                return true;
            }
        }
        false
    }
}

fn name_of(group: &str, filter: &str) -> Box<str> {
    [group, "/", filter].concat().into_boxed_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takers(groups: &mut SharedGroups<u32, ()>, topic: &str, offline: &[u32]) -> Vec<u32> {
        let mut takers = Vec::new();
        let offer = |_, member: &Entry<u32, ()>| {
            let online = !offline.contains(&member.subscriber);
            if online {
                takers.push(member.subscriber);
            }
            online
        };
        groups.dispatch(topic, offer, |_| {});
        takers
    }

    #[test]
    fn members_take_turns_and_the_absent_are_passed_over() {
        let mut groups = SharedGroups::new();
        for member in 1..=3 {
            groups.insert("g", "a/+", member, ());
        }
        let turns: Vec<_> = (0..6).map(|_| takers(&mut groups, "a/b", &[])).collect();
        assert_eq!(turns, [[1], [2], [3], [1], [2], [3]]);
        let turns: Vec<_> = (0..4).map(|_| takers(&mut groups, "a/b", &[2])).collect();
        assert_eq!(turns, [[1], [3], [1], [3]]);
        assert_eq!(takers(&mut groups, "a/b", &[1, 2, 3]), []);
    }

    #[test]
    fn equal_filters_of_two_groups_each_get_a_copy_and_an_empty_group_goes() {
        let mut groups = SharedGroups::new();
        assert_eq!(groups.insert("g", "a/#", 1, ()), Insertion::FirstOfFilter);
        assert_eq!(groups.insert("h", "a/#", 1, ()), Insertion::FirstOfFilter);
        assert_eq!(groups.insert("h", "a/#", 1, ()), Insertion::Replaced);
        assert_eq!(takers(&mut groups, "a", &[]), [1, 1]);
        assert_eq!(groups.remove("g", "a/#", 1), Removal::LastOfFilter);
        assert_eq!(groups.remove("g", "a/#", 1), Removal::NotFound);
        assert_eq!((takers(&mut groups, "a", &[]), groups.len()), (vec![1], 1));
    }

    #[test]
    fn groups_say_who_they_are() {
        let mut groups = SharedGroups::new();
        assert_eq!((groups.is_empty(), groups.len()), (true, 0));
        for (group, filter, member) in [("g", "a/+", 1), ("g", "a/+", 2), ("h", "a/b", 3)] {
            groups.insert(group, filter, member, ());
        }
        assert_eq!((groups.is_empty(), groups.len()), (false, 2));
        assert!(groups.has_match("a/b") && groups.has_match("a/x") && !groups.has_match("b"));
        let members: Vec<u32> = groups.members("g", "a/+").iter().map(|entry| entry.subscriber).collect();
        assert_eq!(members, [1, 2]);
        assert!(groups.members("g", "a/b").is_empty());
    }
}
