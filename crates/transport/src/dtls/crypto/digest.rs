//! SHA-256 and SHA-384, by themselves and with a key.

use std::fmt;

use dimpl::CryptoError;
use dimpl::crypto::{Buf, HashAlgorithm, HashContext, HashProvider, HmacProvider};
use ring::{digest, hmac};

/// Begins digests.
#[derive(Debug)]
pub(super) struct Hashes;

impl HashProvider for Hashes {
    fn create_hash(&self, algorithm: HashAlgorithm) -> Box<dyn HashContext> {
        let algorithm = match algorithm {
            HashAlgorithm::SHA256 => &digest::SHA256,
            HashAlgorithm::SHA384 => &digest::SHA384,
            // It is that of the suite, and no suite of ours has another.
            other => unreachable!("{other:?} is of no suite"),
        };
        Box::new(Hash(digest::Context::new(algorithm)))
    }
}

/// A digest under way.
struct Hash(digest::Context);

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hash").finish_non_exhaustive()
    }
}

impl HashContext for Hash {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn clone_and_finalize(&self, out: &mut Buf) {
        out.clear();
        out.extend_from_slice(self.0.clone().finish().as_ref());
    }
}

/// Digests with a key.
#[derive(Debug)]
pub(super) struct Hmac;

impl HmacProvider for Hmac {
    fn hmac(&self, hash: HashAlgorithm, key: &[u8], data: &[u8], out: &mut [u8]) -> Result<usize, CryptoError> {
        let algorithm = match hash {
            HashAlgorithm::SHA256 => hmac::HMAC_SHA256,
            HashAlgorithm::SHA384 => hmac::HMAC_SHA384,
            other => return Err(CryptoError::UnsupportedHmacHash(other)),
        };
        let tag = hmac::sign(&hmac::Key::new(algorithm, key), data);
        let len = tag.as_ref().len();
        out[..len].copy_from_slice(tag.as_ref());
        Ok(len)
    }
}
