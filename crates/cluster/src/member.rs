//! One node of a cluster.

use serde::{Deserialize, Serialize};

use crate::bounds::{ADDRESS_BYTES_MAX, ADDRESSES_MAX, NAME_BYTES_MAX, RELEASE_BYTES_MAX};
use crate::fault::Fault;
use crate::ids::{Boot, FolderId, NodeId};

/// Feature levels that a program can live with, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// The least.
    pub least: u32,
    /// The most.
    pub most: u32,
}

/// What a node says of itself when it founds a cluster or joins one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Newcomer {
    /// What people call it; one of its own in the cluster.
    pub name: String,
    /// Its data folder.
    pub folder: FolderId,
    /// Where others reach it, `HOST:PORT`.
    pub addresses: Vec<String>,
    /// Where it stands: nodes of one zone may fail together. Empty: nobody has said.
    pub zone: String,
    /// Of its program, for people.
    pub release: String,
    /// Of its program.
    pub features: Features,
}

/// What a member is in votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Has a copy, and counts for what is acknowledged.
    Voter,
    /// Has a copy, and does not count.
    Learner,
    /// Was removed. Its id stays taken.
    Gone,
}

/// A node as the cluster knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its number.
    pub id: NodeId,
    /// What it said of itself last.
    pub said: Newcomer,
    /// Its last start that was heard of; 0: none yet.
    pub boot: Boot,
    /// What it is in votes.
    pub standing: Standing,
}

impl Newcomer {
    /// Whether everything is within its bounds.
    ///
    /// # Errors
    /// `TooLong`, `Malformed`: names the field.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        check_name("a node's name", &self.name)?;
        check_length("a zone", &self.zone, NAME_BYTES_MAX)?;
        check_release(&self.release)?;
        check_addresses(&self.addresses)?;
        self.features.check()
    }
}

impl Features {
    pub(crate) fn check(self) -> Result<(), Fault> {
        match self.least > self.most {
            true => Err(Fault::Malformed { what: "the least feature level is above the most".into() }),
            false => Ok(()),
        }
    }
}

pub(crate) fn check_release(release: &str) -> Result<(), Fault> {
    check_length("a release", release, RELEASE_BYTES_MAX)
}

/// A name that a line of a table can have in it.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), Fault> {
    check_length(what, name, NAME_BYTES_MAX)?;
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_.".contains(one);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(Fault::Malformed {
            what: format!("{what} has letters, digits, '-', '_' and '.', and one at least"),
        });
    }
    Ok(())
}

pub(crate) fn check_addresses(addresses: &[String]) -> Result<(), Fault> {
    if addresses.is_empty() || addresses.len() > ADDRESSES_MAX {
        return Err(Fault::Malformed { what: format!("a node has 1 to {ADDRESSES_MAX} addresses") });
    }
    addresses.iter().try_for_each(|address| check_length("an address", address, ADDRESS_BYTES_MAX))
}

fn check_length(what: &'static str, text: &str, bytes_max: usize) -> Result<(), Fault> {
    match text.len() > bytes_max {
        true => Err(Fault::TooLong { what, bytes: text.len(), bytes_max }),
        false => Ok(()),
    }
}
