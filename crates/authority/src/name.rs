//! Which node of which cluster: as a certificate says it.

use std::fmt;

use data_encoding::HEXLOWER;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use crate::fault::Fault;

/// Nodes have the numbers 0..64.
pub const NODES_MAX: u8 = 64;

/// What the URIs of clusters and nodes begin with.
const SCHEME: &str = "lapwing://";
const HEX_CHARS: usize = 32;

/// A node of a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeName {
    cluster: [u8; 16],
    node: u8,
}

impl NodeName {
    /// The node with this number in this cluster.
    ///
    /// # Errors
    /// `NoSuchNode`: the number is [`NODES_MAX`] or above.
    pub const fn new(cluster: [u8; 16], node: u8) -> Result<Self, Fault> {
        if node < NODES_MAX { Ok(NodeName { cluster, node }) } else { Err(Fault::NoSuchNode { node }) }
    }

    /// Reads it from a certificate in DER, which somebody else has verified.
    ///
    /// # Errors
    /// `NoCertificate`, `Nameless`, `SeveralNames`.
    pub fn of(certificate: &[u8]) -> Result<Self, Fault> {
        let certificate = Certificate::from_der(certificate).map_err(|_| Fault::NoCertificate)?;
        let names: Vec<NodeName> = uris(&certificate)?.iter().filter_map(|uri| Self::parse(uri)).collect();
        match names[..] {
            [] => Err(Fault::Nameless),
            [name] => Ok(name),
            _ => Err(Fault::SeveralNames),
        }
    }

    /// The id of its cluster.
    pub const fn cluster(&self) -> [u8; 16] {
        self.cluster
    }

    /// Its number there.
    pub const fn node(&self) -> u8 {
        self.node
    }

    /// As it stands in its certificate.
    pub fn uri(&self) -> String {
        format!("{}/node/{}", cluster_uri(self.cluster), self.node)
    }

    /// The name by which a client of TLS asks for it, in the certificate too: a name of DNS that nobody resolves
    /// (`internal` is for private use for ever), whatever the address is that the node has today.
    pub fn server_name(&self) -> String {
        format!("node-{}.{}.lapwing.internal", self.node, HEXLOWER.encode(&self.cluster))
    }

    /// Exactly as [`NodeName::uri`] writes it.
    fn parse(uri: &str) -> Option<Self> {
        let (cluster, node) = uri.strip_prefix(SCHEME)?.split_once("/node/")?;
        let name = NodeName::new(parse_cluster(cluster)?, node.parse().ok()?).ok()?;
        // No sign and no zero in front of the number: one node has one name.
        (name.uri() == uri).then_some(name)
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.uri())
    }
}

impl fmt::Debug for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeName({self})")
    }
}

/// As it stands in the certificate of the cluster's authority.
pub(crate) fn cluster_uri(cluster: [u8; 16]) -> String {
    format!("{SCHEME}{}", HEXLOWER.encode(&cluster))
}

/// The cluster that the certificate of an authority names; `None`: none, or several.
pub(crate) fn cluster_of(certificate: &Certificate) -> Option<[u8; 16]> {
    let uris = uris(certificate).ok()?;
    let clusters: Vec<[u8; 16]> =
        uris.iter().filter_map(|uri| uri.strip_prefix(SCHEME)).filter_map(parse_cluster).collect();
    match clusters[..] {
        [cluster] => Some(cluster),
        _ => None,
    }
}

fn parse_cluster(hex: &str) -> Option<[u8; 16]> {
    if hex.len() != HEX_CHARS {
        return None;
    }
    HEXLOWER.decode(hex.as_bytes()).ok()?.try_into().ok()
}

/// The URIs among the alternative names of the subject.
fn uris(certificate: &Certificate) -> Result<Vec<String>, Fault> {
    let names = certificate.tbs_certificate.get::<SubjectAltName>().map_err(|_| Fault::NoCertificate)?;
    let Some((_, SubjectAltName(names))) = names else { return Ok(Vec::new()) };
    let uri = |name: GeneralName| match name {
        GeneralName::UniformResourceIdentifier(uri) => Some(uri.to_string()),
        _ => None,
    };
    Ok(names.into_iter().filter_map(uri).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a name read as it is written, and in no other spelling?
    #[test]
    fn a_name_has_one_spelling() {
        let name = NodeName::new([0xab; 16], 7).unwrap();
        let hex = "ab".repeat(16);
        assert_eq!(name.uri(), format!("lapwing://{hex}/node/7"));
        assert_eq!(name.server_name(), format!("node-7.{hex}.lapwing.internal"));
        for node in 0..NODES_MAX {
            let name = NodeName::new([node; 16], node).unwrap();
            assert_eq!(NodeName::parse(&name.uri()), Some(name));
        }
        let upper = hex.to_uppercase();
        for other in [
            format!("lapwing://{hex}/node/07"),
            format!("lapwing://{hex}/node/+7"),
            format!("lapwing://{hex}/node/64"),
            format!("lapwing://{hex}/node/"),
            format!("lapwing://{hex}/node/7/"),
            format!("lapwing://{hex}0/node/7"),
            format!("lapwing://{upper}/node/7"),
            format!("LAPWING://{hex}/node/7"),
            format!("lapwing://{hex}"),
            "lapwing:///node/7".into(),
            "spiffe://lapwing/node/7".into(),
        ] {
            assert_eq!(NodeName::parse(&other), None, "{other}");
        }
        assert_eq!(NodeName::new([0; 16], NODES_MAX), Err(Fault::NoSuchNode { node: NODES_MAX }));
    }
}
