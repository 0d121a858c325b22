//! One node: its disk, and while it is up its replicas, its states and perhaps a serving.

use lapwing_cluster::{Step, Timing};
use lapwing_oracle::variants::Random;
use lapwing_peer::{GroupNumber, NodeId, Parsed, Stage, parse};
use lapwing_raft::Membership;
use lapwing_replica::{Config, Replica, Turn};

use crate::disk::{Disk, Saved};
use crate::owner::Owner;
use crate::state::State;

/// What others may have under way to a node.
pub const WINDOW_BYTES: u64 = 400 << 10;
/// The longest frame.
pub const FRAME_BYTES_MAX: usize = 256 << 10;
const TICK_MS: u64 = 20;
/// As `[cluster]` has them where nothing is set.
pub const TIMING: Timing = Timing { election_ms: 1_000, give_up_ms: 5_000 };

/// A node, up or down.
#[derive(Debug)]
pub struct Node {
    pub id: NodeId,
    /// Its clock runs at so many thousandths of the true one.
    pub rate: u64,
    pub disk: Disk,
    pub life: Option<Life>,
    /// It has joined, and was not taken out.
    pub is_member: bool,
    /// It comes up then.
    pub down_until_ms: u64,
    /// It does nothing before that.
    pub still_until_ms: u64,
    starts: u64,
}

/// A process.
pub struct Life {
    pub replica: Replica,
    pub states: Vec<State>,
    /// Who belongs to each group by what was told as committed.
    pub memberships: Vec<Membership>,
    /// The same by what its engine counts with.
    pub in_force: Vec<Membership>,
    pub owner: Option<Owner>,
    /// Snapshots whose bytes are here and that the next write makes count.
    pub installing: Vec<(GroupNumber, Saved)>,
    next_tick_ms: u64,
    /// Something has happened since the last turn.
    pub is_due: bool,
}

impl std::fmt::Debug for Life {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Life").field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl Node {
    pub fn new(id: u8, voters: &[u64], random: &mut Random) -> Node {
        Node {
            id: NodeId::new(id).expect("from 1 on"),
            rate: 960 + random.below(81) as u64,
            disk: Disk::founded(voters),
            life: None,
            is_member: true,
            down_until_ms: 0,
            still_until_ms: 0,
            starts: 0,
        }
    }

    /// One that has not joined yet.
    pub fn newcomer(id: u8, random: &mut Random) -> Node {
        Node { disk: Disk::joining(), is_member: false, ..Node::new(id, &[1], random) }
    }

    /// Its monotonic clock, which goes on while it stands still.
    pub fn clock_ms(&self, now_ms: u64) -> u64 {
        1 + now_ms * self.rate / 1000
    }

    pub fn is_running(&self, now_ms: u64) -> bool {
        self.life.is_some() && now_ms >= self.still_until_ms
    }

    /// Starts on what the disk has.
    pub fn start(&mut self, now_ms: u64, tail_bytes: u64) -> Result<(), String> {
        self.starts += 1;
        let config = Config {
            node: self.id,
            seed: u64::from(self.id.value()) << 8 | self.starts << 16,
            heartbeat_ticks: 10,
            election_ticks: 50,
            tail_bytes,
            window_bytes: WINDOW_BYTES,
        };
        let (starts, states) = self.disk.start();
        let replica = Replica::new(config, TIMING, starts).map_err(|fault| fault.to_string())?;
        let next_tick_ms = self.clock_ms(now_ms);
        let memberships: Vec<Membership> =
            GroupNumber::all().map(|group| replica.engine(group).membership().clone()).collect();
        self.life = Some(Life {
            replica,
            states,
            in_force: memberships.clone(),
            memberships,
            owner: None,
            installing: vec![],
            next_tick_ms,
            is_due: true,
        });
        Ok(())
    }

    /// The process ends; of what was not synced some is there.
    pub fn crash(&mut self, random: &mut Random) {
        self.life = None;
        self.disk.crash(random.below(4), random.below(18));
    }

    /// Takes the frames that have arrived from a peer.
    ///
    /// # Errors
    /// No node of ours sends that.
    pub fn take(&mut self, peer: NodeId, arrived: &mut Vec<u8>) -> Result<(), String> {
        let Some(life) = &mut self.life else { return Ok(()) };
        let mut taken = 0;
        while let Parsed::Frame(frame, bytes) =
            parse(&arrived[taken..], Stage::Raft, FRAME_BYTES_MAX).map_err(|fault| fault.to_string())?
        {
            life.replica.frame(peer, &frame).map_err(|fault| fault.to_string())?;
            taken += bytes;
        }
        arrived.drain(..taken);
        life.is_due = true;
        Ok(())
    }

    /// Time passes by its own clock. After it has stood still it takes what has come before it ticks, once.
    pub fn tick(&mut self, now_ms: u64) -> Step {
        let clock_ms = self.clock_ms(now_ms);
        let Some(life) = &mut self.life else { return Step::Nothing };
        if clock_ms < life.next_tick_ms {
            return Step::Nothing;
        }
        life.next_tick_ms = clock_ms + TICK_MS;
        life.is_due = true;
        life.replica.tick();
        if life.owner.as_ref().and_then(|owner| owner.ends_at_ms).is_some_and(|ends_at_ms| clock_ms >= ends_at_ms) {
            life.owner = None;
            life.replica.serving_ended();
        }
        life.replica.decide(clock_ms)
    }

    /// Whether a client would get an answer now.
    pub fn answers(&self, now_ms: u64, is_bound_to_lease: bool) -> bool {
        let Some(life) = self.life.as_ref().filter(|_| self.is_running(now_ms)) else { return false };
        let is_serving = life.owner.as_ref().is_some_and(|owner| owner.ends_at_ms.is_none());
        is_serving && (!is_bound_to_lease || self.clock_ms(now_ms) < life.replica.may_serve_until_ms())
    }
}

impl Life {
    /// The next turn, if anything has happened.
    pub fn turn(&mut self) -> Option<Turn> {
        std::mem::take(&mut self.is_due).then(|| self.replica.turn())
    }
}
