//! What tells a listener who a client is.

use lapwing_transport::CertificateName;
use serde::{Deserialize, Serialize};

/// Whether a listener asks clients for certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientCertificateMode {
    /// It does not ask.
    #[default]
    None,
    /// It asks, and takes clients without one.
    Optional,
    /// Without one there is no connection.
    Required,
}

/// What tells who a client is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdentitySource {
    /// User name and password of its CONNECT.
    #[default]
    Password,
    /// The common name of its certificate.
    CertificateCn,
    /// The one alternative name of its certificate.
    CertificateSan,
}

impl IdentitySource {
    /// The name of a certificate to ask the socket for; `None` where a password tells.
    pub fn certificate_name(self) -> Option<CertificateName> {
        match self {
            IdentitySource::Password => None,
            IdentitySource::CertificateCn => Some(CertificateName::Common),
            IdentitySource::CertificateSan => Some(CertificateName::Alternative),
        }
    }
}
