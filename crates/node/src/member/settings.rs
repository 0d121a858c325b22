//! What a member is started with, beside what any node is: `[cluster]`.

use std::net::SocketAddr;
use std::path::PathBuf;

use lapwing_cluster::Timing;
use lapwing_transport::{PeerFiles, PeerTls};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::error::MemberError;
use super::links::Own;
use super::raft_thread::TICK;
use crate::config::Config;
use crate::error::NodeError;

/// A node that leads the metadata group and cannot serve tries for so long.
const GIVE_UP_MS: u64 = 5_000;

/// `[cluster]`.
#[derive(Clone, Debug)]
pub struct MemberConfig {
    /// Where other nodes connect: addresses of one name, all at one port.
    pub listen: Vec<SocketAddr>,
    /// Where they are told to, `HOST:PORT`.
    pub advertise: Vec<String>,
    /// Its certificate for them, and whose certificates count.
    pub files: PeerFiles,
    /// The leader speaks to everybody at least so often.
    pub heartbeat_ms: u64,
    /// Who hears nothing for so long, and up to half more, stands for election.
    pub election_ms: u64,
    /// Batches in memory for who lags a little, all groups together.
    pub tail_bytes: u64,
    /// Of each group's log so much is kept for a voter that lacks it; who lags further is sent a snapshot.
    pub keep_log_bytes: u64,
    /// Snapshots go to others no faster than so many bytes a second, to each.
    pub move_bytes_per_s: u64,
    /// Of this program, for people: visible ASCII without spaces.
    pub software: String,
}

impl MemberConfig {
    /// Settings of the design, for a node at this address.
    pub fn new(
        listen: Vec<SocketAddr>,
        advertise: Vec<String>,
        certificate: PathBuf,
        key: PathBuf,
        ca: PathBuf,
    ) -> Self {
        MemberConfig {
            listen,
            advertise,
            files: PeerFiles { certificate, key, ca },
            heartbeat_ms: 200,
            election_ms: 1_000,
            tail_bytes: 64 << 20,
            keep_log_bytes: 16 << 20,
            move_bytes_per_s: 50 << 20,
            software: concat!("lapwing/", env!("CARGO_PKG_VERSION")).into(),
        }
    }

    /// What no member runs with.
    pub(super) fn check(&self, config: &Config) -> Result<(), NodeError> {
        let wrong = |key: &str, what: &str, remedy: &'static str| Err(NodeError::config(key, what.to_owned(), remedy));
        if !config.keeps_sessions() {
            return wrong(
                "durability",
                "keeps nothing on disk, and [cluster] copies what is there",
                "Set durability = \"disk\".",
            );
        }
        if !config.streams.is_empty() {
            return wrong(
                "streams",
                "are not copied to the other nodes of [cluster] yet",
                "Leave out [streams], or [cluster].",
            );
        }
        let tick_ms = TICK.as_millis() as u64;
        if self.heartbeat_ms < tick_ms || self.election_ms < 3 * self.heartbeat_ms {
            let what = format!("is {} ms, and heartbeats come every {} ms", self.election_ms, self.heartbeat_ms);
            return Err(NodeError::config(
                "cluster.election",
                what,
                "Give three heartbeats at least, each of 20 ms or more.",
            ));
        }
        let is_address = |text: &String| text.len() <= 259 && text.chars().all(|one| ('!'..='~').contains(&one));
        if !(1..=8).contains(&self.advertise.len()) || !self.advertise.iter().all(is_address) {
            return wrong(
                "cluster.advertise",
                "is no list of one to eight HOST:PORT",
                "Say where other nodes reach this one.",
            );
        }
        if self.tail_bytes < 1 << 20 {
            return wrong("cluster.tail_bytes", "is less than 1 MiB", "Give 1 MiB at least.");
        }
        if self.move_bytes_per_s < 1 << 20 {
            return wrong("cluster.move_rate", "is less than 1 MiB a second", "Give 1 MiB at least.");
        }
        Ok(())
    }

    pub(super) fn ticks(&self, ms: u64) -> u32 {
        u32::try_from(ms / TICK.as_millis() as u64).unwrap_or(u32::MAX / 4).max(1)
    }

    pub(super) fn timing(&self) -> Timing {
        Timing { election_ms: self.election_ms, give_up_ms: GIVE_UP_MS }
    }
}

/// The certificate is this node's.
pub(super) fn check_certificate(tls: &PeerTls, own: &Own) -> Result<(), MemberError> {
    let name = tls.name();
    match name.cluster() == own.cluster && name.node() == own.node.value() {
        true => Ok(()),
        false => Err(MemberError::OtherCertificate { node: own.node.value() }),
    }
}

/// Hashes of the tables that must be the same on all nodes, in the order of `lapwing_peer::Table::ALL`.
pub(super) fn tables(config: &Config) -> [[u8; 32]; 5] {
    let Config { groups, hold, topics, auth, rules, .. } = config;
    [hash(groups), hash(hold), hash(topics), hash(auth), hash(rules)]
}

fn hash(table: &impl Serialize) -> [u8; 32] {
    // Maps are in the order of their keys, so the same table is the same text. Those of a configuration are JSON, from which
    // they came.
    let text = serde_json::to_vec(table).unwrap_or_default();
    Sha256::digest(text).into()
}
