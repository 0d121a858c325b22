//! Members that come, go, and get or lose their vote.

use lapwing_raft::{Change, Standing};

use super::World;

impl World {
    /// One to three changes at once, whatever they lead to; what leads nowhere is refused.
    pub(super) fn change(&mut self) {
        let standings = [Standing::Voter, Standing::Voter, Standing::Learner, Standing::Gone];
        let nodes = self.replicas.len() as u64;
        let many = 1 + self.random.below(3);
        let change = |_| {
            let node = 1 + self.random.below(nodes);
            Change { node, standing: self.random.pick(&standings).copied().unwrap_or(Standing::Voter) }
        };
        let changes: Vec<Change> = (0..many).map(change).collect();
        for engine in self.replicas.iter_mut().filter_map(|replica| replica.engine.as_mut()) {
            let voters = engine.membership().voters.len();
            let gone = changes.iter().filter(|change| change.standing != Standing::Voter).count();
            // Two voters at least: of one alone nothing is learned.
            if voters > gone + 1 {
                let _ = engine.propose_membership(&changes);
            }
        }
    }
}
