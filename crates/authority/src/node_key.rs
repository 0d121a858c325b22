//! A node's own key, which it keeps.

use std::fmt;

use rcgen::{CertificateParams, DistinguishedName, KeyPair, PKCS_ECDSA_P256_SHA256};

use crate::fault::Fault;

/// Of one node. `Debug` shows nothing of it.
pub struct NodeKey(KeyPair);

impl NodeKey {
    /// Draws one.
    ///
    /// # Errors
    /// `NotMade`: the system gives no random numbers.
    pub fn generate() -> Result<Self, Fault> {
        generate().map(NodeKey)
    }

    /// Reads one that [`NodeKey::to_pem`] has written.
    ///
    /// # Errors
    /// `NoKey`.
    pub fn from_pem(pem: &str) -> Result<Self, Fault> {
        read(pem).map(NodeKey)
    }

    /// For its file, which nobody else may read.
    pub fn to_pem(&self) -> String {
        self.0.serialize_pem()
    }

    /// A request for a certificate, in PEM. It has the public half and a signature that shows that the other one is here; which
    /// node this is, whoever is asked knows.
    ///
    /// # Errors
    /// `NotMade`: the system gives no random numbers.
    pub fn request(&self) -> Result<String, Fault> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        let request = params.serialize_request(&self.0).map_err(|_| Fault::NotMade)?;
        request.pem().map_err(|_| Fault::NotMade)
    }
}

impl fmt::Debug for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeKey").finish_non_exhaustive()
    }
}

/// A new key.
pub(crate) fn generate() -> Result<KeyPair, Fault> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|_| Fault::NotMade)
}

/// A key of the kind that is made here.
pub(crate) fn read(pem: &str) -> Result<KeyPair, Fault> {
    let key = KeyPair::from_pem(pem).ok();
    key.filter(|key| key.is_compatible(&PKCS_ECDSA_P256_SHA256)).ok_or(Fault::NoKey)
}
