//! What must hold after every step, whatever happens.

use std::collections::BTreeMap;

use lapwing_peer::GroupNumber;
use lapwing_raft::{Membership, Role};
use lapwing_replica::{Committed, Replica};

use crate::disk::{Disk, place};
use crate::state::State;

/// Why a run is wrong.
pub type Violation = String;

/// All that was ever seen of a cluster.
#[derive(Debug, Default)]
pub struct Book {
    groups: Vec<GroupBook>,
    leaders: BTreeMap<(GroupNumber, u64), usize>,
    /// Messages that were committed.
    pub messages: u64,
    /// How often somebody began to serve.
    pub servings: u64,
}

/// One group's: what is committed from Raft index 2 on, and the state behind each.
#[derive(Debug, Default)]
struct GroupBook {
    terms: Vec<u64>,
    states: Vec<State>,
}

impl Book {
    pub fn new() -> Book {
        Book { groups: GroupNumber::all().map(|_| GroupBook::default()).collect(), ..Book::default() }
    }

    /// A node hears that an entry is committed, and its state is this with it. `memberships`: those in force
    /// before and behind this turn, and by the entries before this one. A change is in force when it is on the own disk: so a majority
    /// of any may have committed it.
    pub fn committed(
        &mut self,
        node: usize,
        entry: &Committed,
        state: &State,
        disks: &[&Disk],
        memberships: [&Membership; 3],
    ) -> Result<(), Violation> {
        let (group, index) = (entry.group, entry.raft_index);
        let known = &mut self.groups[place(group)];
        let at = index as usize - 2;
        if let Some(term) = known.terms.get(at) {
            let is_same = *term == entry.term && known.states[at] == *state;
            let what = || format!("group {group}: {node} has another entry {index} than was committed before");
            return if is_same { Ok(()) } else { Err(what()) };
        }
        if at != known.terms.len() {
            return Err(format!("group {group}: {node} commits {index} behind {}", known.terms.len() + 1));
        }
        let copies = |membership: &Membership| {
            let has = |voter: &&u64| disks[**voter as usize - 1].has(group, index, entry.term);
            membership.voters.iter().filter(has).count()
        };
        if !memberships.iter().any(|membership| copies(membership) * 2 > membership.voters.len()) {
            let copies = memberships.map(copies);
            return Err(format!("group {group}: {index} is committed on {copies:?} disks of {memberships:?}"));
        }
        self.messages += u64::from(entry.body.batch().map_or(0, |batch| batch.head().count));
        known.terms.push(entry.term);
        known.states.push(*state);
        Ok(())
    }

    /// A node begins to serve with these states: all that was ever acknowledged is in them.
    pub fn serves(&mut self, node: usize, states: &[State]) -> Result<(), Violation> {
        self.servings += 1;
        for (group, (known, state)) in GroupNumber::all().zip(self.groups.iter().zip(states)) {
            let last = known.states.last().copied().unwrap_or(State::founded());
            if state.sequence < last.sequence {
                let (have, all) = (state.sequence, last.sequence);
                return Err(format!("group {group}: {node} serves with {have} of {all} messages"));
            }
        }
        Ok(())
    }

    /// There is one leader a term.
    pub fn leaders(&mut self, node: usize, replica: &Replica) -> Result<(), Violation> {
        for group in GroupNumber::all() {
            let status = replica.status(group);
            if status.role == Role::Leader {
                let leader = *self.leaders.entry((group, status.term)).or_insert(node);
                if leader != node {
                    return Err(format!("group {group}: {leader} and {node} led in term {}", status.term));
                }
            }
        }
        Ok(())
    }

    /// The last Raft index of a group that is committed anywhere.
    pub fn last(&self, group: GroupNumber) -> u64 {
        self.groups[place(group)].terms.len() as u64 + 1
    }
}
