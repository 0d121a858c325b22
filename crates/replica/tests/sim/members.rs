//! Members that come and go: as the metadata says, which here everybody knows at once.

use std::collections::BTreeSet;

use lapwing_cluster::{ClusterId, ClusterState, Entry, Features, FolderId, Newcomer, NodeId, SecretHash, Standing};
use lapwing_oracle::variants::Random;
use lapwing_raft::{Change, Membership, Standing as InGroup};
use lapwing_replica::check_removal;

use crate::node::Node;
use crate::wire::Wire;
use crate::world::{Flaw, World};

/// A cluster in which the first `voters` vote.
pub fn founded(voters: u8) -> ClusterState {
    let mut cluster = ClusterState::new();
    say(&mut cluster, &Entry::Founded { cluster: ClusterId([1; 16]), name: "marsh".into(), founder: newcomer(1) });
    for number in 2..=voters {
        join(&mut cluster, number);
        say(&mut cluster, &Entry::Promoted { node: NodeId(number) });
    }
    cluster
}

fn newcomer(number: u8) -> Newcomer {
    Newcomer {
        name: format!("n{number}"),
        folder: FolderId([number; 16]),
        addresses: vec!["h:1".into()],
        zone: String::new(),
        release: String::new(),
        features: Features { least: 1, most: 1 },
    }
}

fn join(cluster: &mut ClusterState, number: u8) {
    let secret = SecretHash([number; 32]);
    say(cluster, &Entry::TokenMade { secret, made_at_ms: 1 });
    say(cluster, &Entry::Joined { secret, newcomer: newcomer(number), joined_at_ms: 1 });
}

fn say(cluster: &mut ClusterState, entry: &Entry) {
    cluster.apply(cluster.applied() + 1, entry).expect("nothing refuses it");
}

/// What a committed change makes of who belongs to a group.
pub fn changed(membership: &mut Membership, changes: &[Change]) {
    for Change { node, standing } in changes {
        membership.voters.retain(|other| other != node);
        membership.learners.retain(|other| other != node);
        match standing {
            InGroup::Voter => membership.voters.push(*node),
            InGroup::Learner => membership.learners.push(*node),
            InGroup::Gone => {}
        }
    }
}

impl World {
    /// `voters` nodes, and as many again that may join one day.
    pub fn with_newcomers(seed: u64, voters: u8) -> World {
        let mut world = World::new(seed, voters, Flaw::None);
        for id in voters + 1..=2 * voters {
            world.nodes.push(Node::newcomer(id, &mut Random::new(seed + u64::from(id))));
        }
        world.do_members_change = true;
        let nodes = world.nodes.len();
        let pairs = (0..nodes).flat_map(|first| (first + 1..nodes).map(move |second| (first, second)));
        world.wires = pairs.map(Wire::new).collect();
        world
    }

    /// Somebody joins, or is taken out, where somebody leads all groups and that leaves a majority.
    pub fn change_members(&mut self) {
        let next = self.cluster.members().count() as u8 + 1;
        if self.random.below(2) == 0 && usize::from(next) <= self.nodes.len() {
            join(&mut self.cluster, next);
            self.nodes[usize::from(next) - 1].is_member = true;
            return;
        }
        let node = NodeId(1 + self.random.below(usize::from(next - 1)) as u8);
        let is_there = self.cluster.member(node).is_some_and(|member| member.standing != Standing::Gone);
        let Some(leader) = self.leader_of_all().filter(|_| is_there) else { return };
        let own = NodeId(self.nodes[leader].id.value());
        if check_removal(&self.cluster, own, &self.connected(leader), node).is_ok() {
            say(&mut self.cluster, &Entry::Removed { node });
        }
    }

    fn leader_of_all(&self) -> Option<usize> {
        let leads = |node: &Node| {
            let life = node.life.as_ref().filter(|_| node.is_running(self.now_ms));
            life.is_some_and(|life| life.replica.observed().leads == u16::MAX)
        };
        self.nodes.iter().position(leads)
    }

    fn connected(&self, node: usize) -> BTreeSet<NodeId> {
        let up = self.wires.iter().filter(|wire| wire.is_up && [wire.ends.0, wire.ends.1].contains(&node));
        up.map(|wire| NodeId(self.nodes[wire.other(node)].id.value())).collect()
    }

    /// Whoever leads all groups brings them to what the metadata says; who is out of all of them ends.
    pub fn follow_members(&mut self) {
        for place in 0..self.nodes.len() {
            if !self.nodes[place].is_running(self.now_ms) {
                continue;
            }
            let life = self.nodes[place].life.as_mut().expect("it is running");
            if let Some(entry) = life.replica.follow_members(&self.cluster) {
                // Who leads no longer may say the same once more, or of somebody who is gone.
                let sequence = self.cluster.applied() + 1;
                self.promoted += u64::from(self.cluster.apply(sequence, &entry).is_ok());
            }
            life.is_due = true;
        }
        let Some(leader) = self.leader_of_all() else { return };
        let replica = &self.nodes[leader].life.as_ref().expect("it leads").replica;
        let is_out = |member: &lapwing_cluster::Member| {
            member.standing == Standing::Gone && !replica.is_in_any_group(member.id.0)
        };
        let out: Vec<usize> =
            self.cluster.members().filter(|member| is_out(member)).map(|one| usize::from(one.id.0) - 1).collect();
        for node in out.into_iter().filter(|node| *node != leader && self.nodes[*node].is_member).collect::<Vec<_>>() {
            self.crash(node, self.now_ms);
            self.nodes[node].is_member = false;
            self.removed += 1;
        }
    }
}
