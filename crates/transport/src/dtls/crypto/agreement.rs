//! Agreeing on a secret: X25519, P-256, P-384.

use std::fmt;

use dimpl::crypto::{ActiveKeyExchange, Buf, NamedGroup, SupportedKxGroup};
use dimpl::{CryptoError, CryptoOperation};
use ring::agreement::{self, Algorithm, EphemeralPrivateKey, UnparsedPublicKey};
use ring::rand::SystemRandom;

use super::failed;

pub(super) static GROUPS: &[&dyn SupportedKxGroup] = &[
    &Group { name: NamedGroup::X25519, algorithm: &agreement::X25519 },
    &Group { name: NamedGroup::Secp256r1, algorithm: &agreement::ECDH_P256 },
    &Group { name: NamedGroup::Secp384r1, algorithm: &agreement::ECDH_P384 },
];

#[derive(Debug)]
struct Group {
    name: NamedGroup,
    algorithm: &'static Algorithm,
}

impl SupportedKxGroup for Group {
    fn name(&self) -> NamedGroup {
        self.name
    }

    fn start_exchange(&self, mut public: Buf) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        let private = EphemeralPrivateKey::generate(self.algorithm, &SystemRandom::new())
            .map_err(|_| failed(CryptoOperation::GenerateEphemeralKey))?;
        let key = private.compute_public_key().map_err(|_| failed(CryptoOperation::ComputePublicKey))?;
        public.clear();
        public.extend_from_slice(key.as_ref());
        Ok(Box::new(Exchange { name: self.name, algorithm: self.algorithm, private, public }))
    }
}

/// Our half of one agreement.
struct Exchange {
    name: NamedGroup,
    algorithm: &'static Algorithm,
    private: EphemeralPrivateKey,
    public: Buf,
}

impl fmt::Debug for Exchange {
    /// Nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ActiveKeyExchange for Exchange {
    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    /// A point that is none, or that leads to a secret anybody knows, is refused by `ring`.
    fn complete(self: Box<Self>, peer: &[u8], secret: &mut Buf) -> Result<(), CryptoError> {
        let peer = UnparsedPublicKey::new(self.algorithm, peer);
        let agreed = agreement::agree_ephemeral(self.private, &peer, |agreed| {
            secret.clear();
            secret.extend_from_slice(agreed);
        });
        agreed.map_err(|_| CryptoError::InvalidPublicKey(self.name))
    }

    fn group(&self) -> NamedGroup {
        self.name
    }
}
