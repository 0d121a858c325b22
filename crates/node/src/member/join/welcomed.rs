//! What a node was given that has joined, looked through before it is written.

use lapwing_authority::{Authority, Fault};
use lapwing_peer::JoinWelcome;

/// Of a welcome, what is kept.
pub(super) struct Welcomed {
    pub(super) node: u8,
    pub(super) is_to_vote: bool,
    pub(super) cluster: [u8; 16],
    pub(super) cluster_name: String,
    pub(super) certificate: String,
    pub(super) authority: Authority,
    pub(super) members: Vec<(u8, Vec<String>)>,
}

impl Welcomed {
    /// `cluster`: by the certificate of who has answered.
    ///
    /// # Errors
    /// What does not fit together.
    pub(super) fn of(welcome: &JoinWelcome<'_>, cluster: Option<[u8; 16]>) -> Result<Self, String> {
        let authority = Authority::load(welcome.authority, welcome.authority_key);
        let authority = authority.map_err(|fault: Fault| fault.to_string())?;
        if cluster != Some(welcome.cluster) || authority.cluster() != welcome.cluster {
            return Err("it is of another cluster than the member itself".to_owned());
        }
        let addresses = |member: lapwing_peer::JoinMember<'_>| {
            (member.node.value(), member.addresses.iter().map(str::to_owned).collect())
        };
        Ok(Welcomed {
            node: welcome.node.value(),
            is_to_vote: welcome.is_to_vote,
            cluster: welcome.cluster,
            cluster_name: welcome.cluster_name.to_owned(),
            certificate: welcome.certificate.to_owned(),
            authority,
            members: welcome.members.iter().map(addresses).collect(),
        })
    }
}
