//! It is a node now: which one, of what, and with what it shows that.
//!
//! ```text
//!  0 node u8    1 is to vote u8    2 zero u16    4 cluster [u8; 16]
//! 20 name of the cluster: length u16, text
//!    certificate: length u16, PEM   authority: length u16, PEM   its key: length u16, PEM
//!    members: count u16, each node u8, zero u8, addresses: count u16, each length u16, text
//! ```
//!
//! The authority's key goes along: whoever is asked next may be any member, and the founder's disk may be gone by then.

use std::fmt;

use super::pem::{put_pem, take_pem};
use crate::bounds::{ADDRESSES_MAX, CERTIFICATE_BYTES_MAX, JOIN_MEMBERS_MAX, KEY_BYTES_MAX, NAME_BYTES_MAX};
use crate::wire::{Input, List, Pack, put_short_text, put_zeros};
use crate::{EncodeError, Fault, NodeId};

/// A member, and where it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinMember<'a> {
    /// Its id.
    pub node: NodeId,
    /// HOST:PORT, the best first.
    pub addresses: List<'a, &'a str>,
}

/// What a node is given that has joined. `Debug` shows no key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct JoinWelcome<'a> {
    /// Its number.
    pub node: NodeId,
    /// Whether it will vote when it has caught up; if not, as many vote as may.
    pub is_to_vote: bool,
    /// The cluster's id.
    pub cluster: [u8; 16],
    /// What people call the cluster.
    pub cluster_name: &'a str,
    /// The node's certificate, in PEM.
    pub certificate: &'a str,
    /// The authority's, in PEM.
    pub authority: &'a str,
    /// The authority's key, in PEM: whoever has it is every node.
    pub authority_key: &'a str,
    /// All other members.
    pub members: List<'a, JoinMember<'a>>,
}

impl fmt::Debug for JoinWelcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("JoinWelcome");
        shown.field("node", &self.node).field("is_to_vote", &self.is_to_vote).field("members", &self.members);
        shown.finish_non_exhaustive()
    }
}

impl<'a> Pack<'a> for JoinMember<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.node.put(out)?;
        put_zeros::<1>(out);
        self.addresses.put(ADDRESSES_MAX, "addresses of a node", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let node = NodeId::take(input)?;
        input.zeros::<1>()?;
        Ok(JoinMember { node, addresses: List::take(input, ADDRESSES_MAX, "addresses of a node")? })
    }
}

impl<'a> Pack<'a> for JoinWelcome<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.node.put(out)?;
        out.push(u8::from(self.is_to_vote));
        put_zeros::<2>(out);
        out.extend_from_slice(&self.cluster);
        put_short_text(self.cluster_name, NAME_BYTES_MAX, "the name of a cluster", out)?;
        put_pem(self.certificate, CERTIFICATE_BYTES_MAX, "a certificate", out)?;
        put_pem(self.authority, CERTIFICATE_BYTES_MAX, "the authority's certificate", out)?;
        put_pem(self.authority_key, KEY_BYTES_MAX, "the authority's key", out)?;
        self.members.put(JOIN_MEMBERS_MAX, "members of a cluster", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let node = NodeId::take(input)?;
        let is_to_vote = take_bool(input)?;
        input.zeros::<2>()?;
        Ok(JoinWelcome {
            node,
            is_to_vote,
            cluster: input.array("the cluster's id")?,
            cluster_name: input.text(NAME_BYTES_MAX, "the name of a cluster")?,
            certificate: take_pem(input, CERTIFICATE_BYTES_MAX, "a certificate")?,
            authority: take_pem(input, CERTIFICATE_BYTES_MAX, "the authority's certificate")?,
            authority_key: take_pem(input, KEY_BYTES_MAX, "the authority's key")?,
            members: List::take(input, JOIN_MEMBERS_MAX, "members of a cluster")?,
        })
    }
}

fn take_bool(input: &mut Input<'_>) -> Result<bool, Fault> {
    let here = *input;
    match input.u8("whether it votes")? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(here.malformed("whether it votes").with(other.into())),
    }
}
