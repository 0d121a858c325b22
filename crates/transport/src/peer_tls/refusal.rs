//! Why two who want to be nodes of one cluster do not speak to each other.

use std::io;

use rustls::{CertificateError, Error};

/// Why a connection between nodes was cut, by us or by the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(usize)]
pub enum PeerRefusal {
    /// What came is no TLS.
    #[error("what came is no TLS")]
    NoTls,
    /// A node shows a certificate, and this one had none.
    #[error("it shows no certificate")]
    NoCertificate,
    /// Its certificate is not signed by the authority that counts here.
    #[error("its certificate is of another authority")]
    OtherAuthority,
    /// Its certificate names a node of another cluster.
    #[error("its certificate is of another cluster")]
    OtherCluster,
    /// Its certificate names another node than was asked for.
    #[error("its certificate is of another node than the one that was to be there")]
    OtherNode,
    /// Its certificate is good, and names no node.
    #[error("its certificate names no node of a cluster")]
    Nameless,
    /// The time of its certificate is over, by the clock here.
    #[error("its certificate is over, or the clock here is wrong")]
    Expired,
    /// The time of its certificate has not begun, by the clock here.
    #[error("its certificate is not valid yet, or the clock here is wrong")]
    NotYetValid,
    /// Its certificate cannot be read, or is for something else.
    #[error("its certificate is no use")]
    BadCertificate,
    /// It does not speak what is spoken here, or nobody may join now.
    #[error("it speaks none of the protocols that are spoken now")]
    NoProtocol,
    /// It has refused us, and said so.
    #[error("it has refused this node")]
    ByPeer,
    /// It broke the rules of TLS in some other way.
    #[error("it does not keep to the rules of TLS 1.3")]
    Tls,
}

impl PeerRefusal {
    /// How many there are.
    pub const COUNT: usize = 12;
    /// Each of them, in the order of the variants.
    pub const ALL: [PeerRefusal; Self::COUNT] = [
        PeerRefusal::NoTls,
        PeerRefusal::NoCertificate,
        PeerRefusal::OtherAuthority,
        PeerRefusal::OtherCluster,
        PeerRefusal::OtherNode,
        PeerRefusal::Nameless,
        PeerRefusal::Expired,
        PeerRefusal::NotYetValid,
        PeerRefusal::BadCertificate,
        PeerRefusal::NoProtocol,
        PeerRefusal::ByPeer,
        PeerRefusal::Tls,
    ];

    /// A short, stable name, for counters.
    pub const fn name(self) -> &'static str {
        match self {
            PeerRefusal::NoTls => "no_tls",
            PeerRefusal::NoCertificate => "no_certificate",
            PeerRefusal::OtherAuthority => "other_authority",
            PeerRefusal::OtherCluster => "other_cluster",
            PeerRefusal::OtherNode => "other_node",
            PeerRefusal::Nameless => "nameless",
            PeerRefusal::Expired => "expired",
            PeerRefusal::NotYetValid => "not_yet_valid",
            PeerRefusal::BadCertificate => "bad_certificate",
            PeerRefusal::NoProtocol => "no_protocol",
            PeerRefusal::ByPeer => "by_peer",
            PeerRefusal::Tls => "tls",
        }
    }

    /// The refusal inside an error of [`crate::PeerStream`], if it is one.
    pub fn of(error: &io::Error) -> Option<PeerRefusal> {
        Some(error.get_ref()?.downcast_ref::<PeerFault>()?.refusal)
    }

    /// What a failure of the library is to us. `is_shaking`: it came before the handshake was done.
    fn of_failure(error: &Error, is_shaking: bool) -> Self {
        match error {
            Error::InvalidCertificate(error) => Self::of_certificate(error),
            Error::NoCertificatesPresented => PeerRefusal::NoCertificate,
            Error::NoApplicationProtocol => PeerRefusal::NoProtocol,
            Error::AlertReceived(_) => PeerRefusal::ByPeer,
            Error::InvalidMessage(_) if is_shaking => PeerRefusal::NoTls,
            _ => PeerRefusal::Tls,
        }
    }

    fn of_certificate(error: &CertificateError) -> Self {
        match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => PeerRefusal::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => PeerRefusal::NotYetValid,
            CertificateError::UnknownIssuer | CertificateError::BadSignature => PeerRefusal::OtherAuthority,
            CertificateError::Other(other) => {
                other.0.downcast_ref::<PeerRefusal>().copied().unwrap_or(PeerRefusal::BadCertificate)
            }
            _ => PeerRefusal::BadCertificate,
        }
    }
}

/// A refusal, and what the library of TLS says to it. Its text is for people, and has nothing in it that the other side chose.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{refusal} ({detail})")]
pub struct PeerFault {
    /// Which one.
    pub refusal: PeerRefusal,
    detail: Error,
}

impl PeerFault {
    pub(super) fn new(detail: Error, is_shaking: bool) -> Self {
        PeerFault { refusal: PeerRefusal::of_failure(&detail, is_shaking), detail }
    }
}

impl From<PeerFault> for io::Error {
    fn from(fault: PeerFault) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, fault)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Is a refusal found again in the error that carries it, and does each have a name of its own?
    #[test]
    fn an_error_tells_its_refusal() {
        for (n, refusal) in PeerRefusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, n);
            let fault = PeerFault { refusal, detail: Error::DecryptError };
            assert_eq!(PeerRefusal::of(&io::Error::from(fault)), Some(refusal));
        }
        let names: HashSet<&str> = PeerRefusal::ALL.map(PeerRefusal::name).into();
        assert_eq!(names.len(), PeerRefusal::COUNT);
        assert_eq!(PeerRefusal::of(&io::ErrorKind::InvalidData.into()), None);
    }
}
