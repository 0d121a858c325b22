//! Sealing records: AES-GCM and ChaCha20-Poly1305, and the suites of both versions.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use dimpl::crypto::{
    Aad, Buf, Cipher, Dtls12CipherSuite, Dtls13CipherSuite, HashAlgorithm, Nonce, SupportedDtls12CipherSuite,
    SupportedDtls13CipherSuite, TmpBuf,
};
use dimpl::{CryptoError, CryptoOperation};
use ring::aead::{self, Algorithm, LessSafeKey, UnboundKey, quic};

use super::{ccm, failed};

/// Of AES-GCM and ChaCha20-Poly1305.
const TAG_BYTES: usize = 16;

pub(super) static SUITES_12: &[&dyn SupportedDtls12CipherSuite] = &[
    &Suite12 {
        suite: Dtls12CipherSuite::ECDHE_ECDSA_AES128_GCM_SHA256,
        hash: HashAlgorithm::SHA256,
        sealer: |key| Sealer::of(&aead::AES_128_GCM, key),
        key_bytes: 16,
        nonce_bytes: (4, 8),
        tag_bytes: TAG_BYTES,
    },
    &Suite12 {
        suite: Dtls12CipherSuite::ECDHE_ECDSA_AES256_GCM_SHA384,
        hash: HashAlgorithm::SHA384,
        sealer: |key| Sealer::of(&aead::AES_256_GCM, key),
        key_bytes: 32,
        nonce_bytes: (4, 8),
        tag_bytes: TAG_BYTES,
    },
    &Suite12 {
        suite: Dtls12CipherSuite::ECDHE_ECDSA_CHACHA20_POLY1305_SHA256,
        hash: HashAlgorithm::SHA256,
        sealer: |key| Sealer::of(&aead::CHACHA20_POLY1305, key),
        key_bytes: 32,
        nonce_bytes: (12, 0),
        tag_bytes: TAG_BYTES,
    },
    // Where a listener has pre-shared keys.
    &Suite12 {
        suite: Dtls12CipherSuite::PSK_AES128_CCM_8,
        hash: HashAlgorithm::SHA256,
        sealer: ccm::Sealer::of,
        key_bytes: 16,
        nonce_bytes: (4, 8),
        tag_bytes: ccm::TAG_BYTES,
    },
];

pub(super) static SUITES_13: &[&dyn SupportedDtls13CipherSuite] = &[
    &Suite13 {
        suite: Dtls13CipherSuite::AES_128_GCM_SHA256,
        hash: HashAlgorithm::SHA256,
        algorithm: &aead::AES_128_GCM,
        key_bytes: 16,
        mask: mask_by::<aes::Aes128>,
    },
    &Suite13 {
        suite: Dtls13CipherSuite::AES_256_GCM_SHA384,
        hash: HashAlgorithm::SHA384,
        algorithm: &aead::AES_256_GCM,
        key_bytes: 32,
        mask: mask_by::<aes::Aes256>,
    },
    &Suite13 {
        suite: Dtls13CipherSuite::CHACHA20_POLY1305_SHA256,
        hash: HashAlgorithm::SHA256,
        algorithm: &aead::CHACHA20_POLY1305,
        key_bytes: 32,
        mask: mask_by_chacha,
    },
];

/// One direction of one connection.
#[derive(Debug)]
struct Sealer(LessSafeKey);

impl Sealer {
    fn of(algorithm: &'static Algorithm, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        let key = UnboundKey::new(algorithm, key).map_err(|_| failed(CryptoOperation::CreateCipher))?;
        Ok(Box::new(Sealer(LessSafeKey::new(key))))
    }
}

impl Cipher for Sealer {
    fn encrypt(&mut self, plaintext: &mut Buf, aad: Aad, nonce: Nonce) -> Result<(), CryptoError> {
        let nonce = aead::Nonce::assume_unique_for_key(nonce.0);
        let sealed = self.0.seal_in_place_append_tag(nonce, aead::Aad::from(&aad[..]), plaintext);
        sealed.map_err(|_| failed(CryptoOperation::Encrypt))
    }

    fn decrypt(&mut self, ciphertext: &mut TmpBuf<'_>, aad: Aad, nonce: Nonce) -> Result<(), CryptoError> {
        let nonce = aead::Nonce::assume_unique_for_key(nonce.0);
        let opened = self.0.open_in_place(nonce, aead::Aad::from(&aad[..]), ciphertext.as_mut());
        let len = opened.map_err(|_| failed(CryptoOperation::Decrypt))?.len();
        ciphertext.truncate(len);
        Ok(())
    }
}

/// From a key of one direction.
type NewSealer = fn(&[u8]) -> Result<Box<dyn Cipher>, CryptoError>;

/// A suite of DTLS 1.2.
#[derive(Debug)]
struct Suite12 {
    suite: Dtls12CipherSuite,
    hash: HashAlgorithm,
    sealer: NewSealer,
    key_bytes: usize,
    /// Of the nonce: those that the handshake makes, and those that stand in each record.
    nonce_bytes: (usize, usize),
    tag_bytes: usize,
}

impl SupportedDtls12CipherSuite for Suite12 {
    fn suite(&self) -> Dtls12CipherSuite {
        self.suite
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        self.hash
    }

    fn key_lengths(&self) -> (usize, usize, usize) {
        (0, self.key_bytes, self.nonce_bytes.0)
    }

    fn explicit_nonce_len(&self) -> usize {
        self.nonce_bytes.1
    }

    fn tag_len(&self) -> usize {
        self.tag_bytes
    }

    fn create_cipher(&self, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        (self.sealer)(key)
    }
}

/// A suite of DTLS 1.3.
#[derive(Debug)]
struct Suite13 {
    suite: Dtls13CipherSuite,
    hash: HashAlgorithm,
    algorithm: &'static Algorithm,
    key_bytes: usize,
    /// What a record's number is hidden by: from a key of `key_bytes`, and the first bytes of what is sealed.
    mask: fn(&[u8], &[u8; 16]) -> [u8; 16],
}

impl SupportedDtls13CipherSuite for Suite13 {
    fn suite(&self) -> Dtls13CipherSuite {
        self.suite
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        self.hash
    }

    fn key_len(&self) -> usize {
        self.key_bytes
    }

    fn iv_len(&self) -> usize {
        aead::NONCE_LEN
    }

    fn tag_len(&self) -> usize {
        TAG_BYTES
    }

    fn create_cipher(&self, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        Sealer::of(self.algorithm, key)
    }

    fn encrypt_sn(&self, key: &[u8], sample: &[u8; 16]) -> [u8; 16] {
        (self.mask)(key, sample)
    }
}

/// RFC 9147, 4.2.3, for AES: one block.
fn mask_by<C: KeyInit + BlockCipherEncrypt<BlockSize = aes::cipher::consts::U16>>(
    key: &[u8],
    sample: &[u8; 16],
) -> [u8; 16] {
    let cipher = C::new_from_slice(key).expect("the key is as long as the suite says");
    let mut block = (*sample).into();
    cipher.encrypt_block(&mut block);
    block.into()
}

/// The same for ChaCha20, of which no more than this is ever used.
fn mask_by_chacha(key: &[u8], sample: &[u8; 16]) -> [u8; 16] {
    let key = quic::HeaderProtectionKey::new(&quic::CHACHA20, key).expect("the key is as long as the suite says");
    let mut mask = [0; 16];
    mask[..5].copy_from_slice(&key.new_mask(sample).expect("a sample has 16 bytes"));
    mask
}
