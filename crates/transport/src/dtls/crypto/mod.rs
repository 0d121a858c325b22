//! The cryptography of DTLS by `ring`, which TLS has already: what `dimpl` asks of a provider, and nothing beyond.
//!
//! `dimpl` holds a provider against known answers whenever a configuration is made, so a slip here is found at the start.
//! What `ring` does not have are the crates `aes`, one block of which hides record numbers of DTLS 1.3, and `ccm`, for pre-shared
//! keys.

mod agreement;
mod ccm;
mod digest;
mod seal;
mod signature;

use dimpl::crypto::{CryptoProvider, SecureRandom};
use dimpl::{CryptoError, CryptoOperation};
use ring::rand::SystemRandom;

/// All of it.
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        kx_groups: agreement::GROUPS,
        signature_verification: &signature::Verifier,
        key_provider: &signature::Keys,
        secure_random: &Random,
        hash_provider: &digest::Hashes,
        hmac_provider: &digest::Hmac,
        cipher_suites: seal::SUITES_12,
        dtls13_cipher_suites: seal::SUITES_13,
    }
}

/// The kernel's random numbers.
#[derive(Debug)]
struct Random;

impl SecureRandom for Random {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), CryptoError> {
        let filled = ring::rand::SecureRandom::fill(&SystemRandom::new(), buffer);
        filled.map_err(|_| failed(CryptoOperation::FillRandom))
    }
}

fn failed(operation: CryptoOperation) -> CryptoError {
    CryptoError::OperationFailed(operation)
}
