//! AES-128-CCM-8: what the one suite with pre-shared keys seals records by (RFC 6655). `ring` has no CCM.

use std::fmt;

use ccm::aead::AeadInOut;
use ccm::consts::{U8, U12};
use ccm::{Ccm, KeyInit};
use dimpl::crypto::{Aad, Buf, Cipher, Nonce, TmpBuf};
use dimpl::{CryptoError, CryptoOperation};

use super::failed;

pub(super) const TAG_BYTES: usize = 8;

type Aes128Ccm8 = Ccm<aes::Aes128, U8, U12>;

/// One direction of one connection.
pub(super) struct Sealer(Box<Aes128Ccm8>);

impl fmt::Debug for Sealer {
    /// Nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").finish_non_exhaustive()
    }
}

impl Sealer {
    pub(super) fn of(key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        let cipher = Aes128Ccm8::new_from_slice(key).map_err(|_| failed(CryptoOperation::CreateCipher))?;
        Ok(Box::new(Sealer(Box::new(cipher))))
    }
}

impl Cipher for Sealer {
    fn encrypt(&mut self, plaintext: &mut Buf, aad: Aad, nonce: Nonce) -> Result<(), CryptoError> {
        let sealed = self.0.encrypt_inout_detached(&nonce.0.into(), &aad[..], (&mut plaintext[..]).into());
        let tag = sealed.map_err(|_| failed(CryptoOperation::Encrypt))?;
        plaintext.extend_from_slice(&tag);
        Ok(())
    }

    fn decrypt(&mut self, ciphertext: &mut TmpBuf<'_>, aad: Aad, nonce: Nonce) -> Result<(), CryptoError> {
        let wrong = || failed(CryptoOperation::Decrypt);
        let (sealed, tag) = ciphertext.as_mut().split_last_chunk_mut::<TAG_BYTES>().ok_or_else(wrong)?;
        let (len, tag) = (sealed.len(), (*tag).into());
        let opened = self.0.decrypt_inout_detached(&nonce.0.into(), &aad[..], sealed.into(), &tag);
        opened.map_err(|_| wrong())?;
        ciphertext.truncate(len);
        Ok(())
    }
}
