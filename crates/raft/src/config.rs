//! What an engine is made with.

use crate::error::StartError;

/// Settings of one engine; times are in ticks, and a tick is whatever time lies between two calls of
/// [`tick`](crate::Engine::tick).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// This node; never 0.
    pub id: u64,
    /// A leader speaks to everybody at least so often.
    pub heartbeat_ticks: u32,
    /// Who has heard of no leader for this long, and up to half more, asks for votes; more than `heartbeat_ticks`.
    pub election_ticks: u32,
    /// A node that was just started hears nobody who asks for a vote for so long: before it ended it may have confirmed a leader,
    /// who counts on that for as long as an election takes. 0 where nobody counts on it.
    pub votes_after_ticks: u32,
    /// The extra of each election comes from it: the same seed, the same run. Nodes should have different ones.
    pub seed: u64,
    /// Batches that wait while a leadership is being handed over; what comes on top is refused.
    pub waiting_max: usize,
    /// Bodies that one message to a peer may refer to, in bytes; a message has at least one entry.
    pub message_bytes_max: u64,
}

impl Config {
    /// The settings of the design for a tick of 20 ms: a heartbeat every 200 ms, an election after 1.0 to 1.5 s.
    pub fn new(id: u64, seed: u64) -> Config {
        Config {
            id,
            heartbeat_ticks: 10,
            election_ticks: 50,
            votes_after_ticks: 0,
            seed,
            waiting_max: 1024,
            message_bytes_max: 1 << 20,
        }
    }

    pub(crate) fn check(&self) -> Result<(), StartError> {
        let is_valid = self.id != 0 && self.heartbeat_ticks > 0 && self.election_ticks > self.heartbeat_ticks;
        if is_valid { Ok(()) } else { Err(StartError::Config { config: *self }) }
    }

    /// One above the longest time until an election.
    pub(crate) fn election_ticks_end(&self) -> usize {
        self.election_ticks as usize + (self.election_ticks as usize / 2).max(1)
    }

    pub(crate) fn as_raft(&self) -> raft::Config {
        raft::Config {
            id: self.id,
            heartbeat_tick: self.heartbeat_ticks as usize,
            election_tick: self.election_ticks as usize,
            min_election_tick: self.election_ticks as usize,
            max_election_tick: self.election_ticks_end(),
            // How much goes into a message is decided by `Headers` and `Outgoing`, who know the bodies' sizes.
            max_size_per_msg: raft::NO_LIMIT,
            check_quorum: true,
            pre_vote: true,
            // raft-rs joins entries to an empty message of the same turn without comparing where that one ends: with one
            // message a turn (`send_unsent`) there is nothing to be had from it.
            batch_append: false,
            // Followers hear of a commit with what comes next, a heartbeat at the latest. Told at once, each batch would be two more
            // messages to each of them.
            skip_bcast_commit: true,
            ..raft::Config::default()
        }
    }
}
