//! A whole state as bytes, in the place of the entries that it adds up.
//!
//! JSON, as entries are, so that a dump of it can be read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bounds::{MEMBERS_MAX, SEQUENCE_END, SNAPSHOT_BYTES_MAX, TOKENS_MAX, VOTERS_MAX};
use crate::fault::Fault;
use crate::ids::{ClusterId, NodeId, SecretHash};
use crate::member::{Member, Standing, check_name};
use crate::state::ClusterState;
use crate::tables::Tables;

/// The version that is written.
const VERSION: u64 = 1;

/// As it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u64,
    applied: u64,
    cluster: Option<Name>,
    members: Vec<Member>,
    tokens: Vec<Token>,
    tables: Tables,
    level: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    id: ClusterId,
    name: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    secret: SecretHash,
    made_at_ms: u64,
}

/// As much of it as tells whether the rest can be read.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

impl ClusterState {
    /// All of it, for whoever does not have the entries.
    pub fn snapshot(&self) -> Vec<u8> {
        let tokens = self.tokens.iter().map(|(secret, made_at_ms)| Token { secret: *secret, made_at_ms: *made_at_ms });
        let document = Document {
            version: VERSION,
            applied: self.applied,
            cluster: self.cluster.clone().map(|(id, name)| Name { id, name }),
            members: self.members.values().cloned().collect(),
            tokens: tokens.collect(),
            tables: self.tables.clone(),
            level: self.level,
        };
        serde_json::to_vec(&document).expect("texts and numbers are JSON")
    }

    /// The state that gave these bytes. Any bytes may come.
    ///
    /// # Errors
    /// `Newer`: a newer program has written it. `TooLong`, `Malformed`: it is no state that entries add up to.
    pub fn restore(bytes: &[u8]) -> Result<Self, Fault> {
        if bytes.len() > SNAPSHOT_BYTES_MAX {
            return Err(Fault::TooLong { what: "a snapshot", bytes: bytes.len(), bytes_max: SNAPSHOT_BYTES_MAX });
        }
        let malformed = |error: serde_json::Error| Fault::Malformed { what: error.to_string() };
        let head: Head = serde_json::from_slice(bytes).map_err(malformed)?;
        if head.version > VERSION {
            return Err(Fault::Newer { found: head.version, supported: VERSION });
        }
        let document: Document = serde_json::from_slice(bytes).map_err(malformed)?;
        document.check()?;
        Ok(document.into_state())
    }
}

impl Document {
    /// Whether entries can have added up to it.
    fn check(&self) -> Result<(), Fault> {
        let malformed = |what: &str| Err(Fault::Malformed { what: what.to_owned() });
        if self.applied >= SEQUENCE_END {
            return malformed("more entries than any log has");
        }
        let Some(Name { name, .. }) = &self.cluster else {
            let is_empty = self.members.is_empty() && self.tokens.is_empty() && self.level == 0;
            let is_none = is_empty && self.tables == Tables::default();
            return if is_none { Ok(()) } else { malformed("members without a cluster") };
        };
        check_name("a cluster's name", name)?;
        let are_numbered = self.members.iter().zip(1..).all(|(member, id)| member.id == NodeId(id));
        if self.members.len() > MEMBERS_MAX || !are_numbered {
            return malformed("members that are not numbered from 1 on");
        }
        let voters = self.members.iter().filter(|member| member.standing == Standing::Voter).count();
        if !(1..=VOTERS_MAX).contains(&voters) {
            return malformed("nobody votes, or more than may");
        }
        if self.tokens.len() > TOKENS_MAX || !self.tokens.is_sorted_by(|one, next| one.secret < next.secret) {
            return malformed("too many tokens, or not each once and in order");
        }
        self.tables.check()?;
        self.members.iter().try_for_each(|member| member.said.check())
    }

    fn into_state(self) -> ClusterState {
        let Document { applied, cluster, members, tokens, tables, level, .. } = self;
        let tokens: BTreeMap<_, _> = tokens.into_iter().map(|token| (token.secret, token.made_at_ms)).collect();
        ClusterState {
            applied,
            cluster: cluster.map(|Name { id, name }| (id, name)),
            members: members.into_iter().map(|member| (member.id, member)).collect(),
            tokens,
            tables,
            level,
        }
    }
}
