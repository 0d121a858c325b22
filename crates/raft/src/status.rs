//! What an engine is at the moment, in numbers.

/// What a replica is in its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It takes what a leader says, or waits to hear from one.
    #[default]
    Follower,
    /// It asks the others whether they would vote for it; nobody's term has changed.
    PreCandidate,
    /// It asks for votes.
    Candidate,
    /// It proposes.
    Leader,
}

/// Where an engine stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// What it is.
    pub role: Role,
    /// Its term.
    pub term: u64,
    /// Who leads in that term, as far as it knows; 0: nobody.
    pub leader: u64,
    /// All up to this Raft index is committed: apply it. It never goes back.
    pub commit: u64,
    /// The last Raft index of its log.
    pub last: u64,
    /// What is on its own disk; below `commit` where the others' disks are ahead of it.
    pub persisted: u64,
    /// Whether something of its own term is committed: all before that term is known then, and a leader may serve.
    pub has_committed_own_term: bool,
    /// Whom it hands the leadership to; 0: nobody.
    pub transfers_to: u64,
    /// Batches that wait for that to be decided.
    pub waiting: usize,
}

/// How far a leader knows another node to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The node.
    pub node: u64,
    /// What it has on its disk of this leader's log.
    pub matched: u64,
    /// Whether it lacks what is compacted here, and was told of the snapshot.
    pub needs_snapshot: bool,
    /// Whether it was heard since the last look at the quorum.
    pub is_active: bool,
}
