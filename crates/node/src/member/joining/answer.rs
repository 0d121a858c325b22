//! What a newcomer is answered, as bytes.

use std::time::SystemTime;

use lapwing_authority::Authority;
use lapwing_cluster::{ClusterState, NodeId as MemberId, Refusal, Standing};
use lapwing_peer::bounds::{JOIN_ANSWER_BYTES_MAX, WORDS_BYTES_MAX};
use lapwing_peer::{Frame, JoinCode, JoinMember, JoinRefused, JoinWelcome, List, NodeId};

/// Why somebody does not join, or not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::member) struct Refused {
    pub(in crate::member) code: JoinCode,
    pub(in crate::member) words: String,
    /// Where to ask instead; empty: nowhere.
    pub(in crate::member) leader: String,
}

impl Refused {
    pub(in crate::member) fn new(code: JoinCode, words: impl Into<String>) -> Refused {
        Refused { code, words: words.into(), leader: String::new() }
    }

    /// Of what the metadata group does not take.
    pub(in crate::member) fn of(refusal: &Refusal) -> Refused {
        let code = match refusal {
            Refusal::UnknownToken => JoinCode::UnknownToken,
            Refusal::OldToken { .. } => JoinCode::OldToken,
            Refusal::NameTaken { .. } => JoinCode::NameTaken,
            Refusal::FolderTaken { .. } => JoinCode::FolderTaken,
            Refusal::Full => JoinCode::Full,
            Refusal::Level { .. } => JoinCode::Level,
            _ => JoinCode::Again,
        };
        Refused::new(code, refusal.to_string())
    }

    /// Another node decides, or nobody does at the moment.
    pub(in crate::member) fn elsewhere(leader: Option<&str>) -> Refused {
        match leader {
            Some(leader) => Refused {
                code: JoinCode::NotLeader,
                words: "another node leads the cluster: ask there".into(),
                leader: leader.to_owned(),
            },
            None => Refused::new(JoinCode::Again, "nobody leads the cluster at the moment: try again"),
        }
    }

    /// As a frame.
    pub(in crate::member) fn encode(&self) -> Vec<u8> {
        let words: String = self.words.chars().filter(|one| (' '..='~').contains(one)).take(WORDS_BYTES_MAX).collect();
        let refused = |leader| JoinRefused { code: self.code.value(), words: &words, leader };
        let mut out = Vec::new();
        // An address that no frame takes is left out.
        if Frame::JoinRefused(refused(&self.leader)).encode(JOIN_ANSWER_BYTES_MAX, &mut out).is_err() {
            let said = Frame::JoinRefused(refused("")).encode(JOIN_ANSWER_BYTES_MAX, &mut out);
            debug_assert!(said.is_ok(), "{said:?}");
        }
        out
    }
}

/// The frame for who has joined as `node`.
///
/// # Errors
/// No certificate can be made; the node is a member all the same.
pub(in crate::member) fn welcome(
    authority: &Authority,
    state: &ClusterState,
    node: MemberId,
    request: &str,
    now: SystemTime,
) -> Result<Vec<u8>, Refused> {
    let malformed = |what: String| Refused::new(JoinCode::Malformed, what);
    let certificate = authority.issue(node.0, request, now).map_err(|fault| malformed(fault.to_string()))?;
    let (cluster, cluster_name) = state.cluster().map_or_else(Default::default, |(id, name)| (id.0, name.to_owned()));
    let others = state.members().filter(|member| member.standing != Standing::Gone && member.id != node);
    let others: Vec<(u8, Vec<&str>)> =
        others.map(|member| (member.id.0, member.said.addresses.iter().map(String::as_str).collect())).collect();
    let members: Vec<JoinMember<'_>> = others
        .iter()
        .filter_map(|(id, addresses)| {
            Some(JoinMember { node: NodeId::new(*id)?, addresses: List::from_slice(addresses) })
        })
        .collect();
    let frame = Frame::JoinWelcome(JoinWelcome {
        node: NodeId::new(node.0).ok_or_else(|| malformed("no node has this number".into()))?,
        is_to_vote: state.has_room_for_a_voter(),
        cluster,
        cluster_name: &cluster_name,
        certificate: &certificate,
        authority: authority.certificate_pem(),
        authority_key: &authority.key_pem(),
        members: List::from_slice(&members),
    });
    let mut out = Vec::new();
    frame.encode(JOIN_ANSWER_BYTES_MAX, &mut out).map_err(|error| malformed(error.to_string()))?;
    Ok(out)
}
