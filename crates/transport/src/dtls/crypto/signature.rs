//! Signatures by ECDSA, ours and those of peers.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use dimpl::crypto::{
    Buf, HashAlgorithm, KeyProvider, NamedGroup, SignatureAlgorithm, SignatureVerifier, SigningKey, check_verify_scheme,
};
use dimpl::{CryptoError, CryptoOperation};
use ring::signature::{self as by, EcdsaVerificationAlgorithm, UnparsedPublicKey};
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_ecdsa_type;
use rustls::pki_types::PrivateKeyDer;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::oid::db::rfc5912::{ID_EC_PUBLIC_KEY, SECP_256_R_1, SECP_384_R_1};

use super::failed;

/// Reads private keys, in each form that TLS takes them in.
#[derive(Debug)]
pub(super) struct Keys;

impl KeyProvider for Keys {
    fn load_private_key(&self, der: &[u8]) -> Result<Box<dyn SigningKey>, CryptoError> {
        let der = PrivateKeyDer::try_from(der).map_err(|_| CryptoError::InvalidPrivateKey)?;
        let key = any_ecdsa_type(&der).map_err(|_| CryptoError::InvalidPrivateKey)?;
        let curves = [
            (SignatureScheme::ECDSA_NISTP256_SHA256, HashAlgorithm::SHA256),
            (SignatureScheme::ECDSA_NISTP384_SHA384, HashAlgorithm::SHA384),
        ];
        let its = curves.into_iter().find(|(scheme, _)| key.choose_scheme(&[*scheme]).is_some());
        let (scheme, hash) = its.ok_or(CryptoError::UnsupportedEcCurve)?;
        Ok(Box::new(Key { key: AssertUnwindSafe(key), scheme, hash: [hash] }))
    }
}

/// Our private key, and the one scheme of its curve.
struct Key {
    /// Nothing in it changes.
    key: AssertUnwindSafe<Arc<dyn rustls::sign::SigningKey>>,
    scheme: SignatureScheme,
    hash: [HashAlgorithm; 1],
}

impl fmt::Debug for Key {
    /// Nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

impl SigningKey for Key {
    fn sign(&mut self, data: &[u8], hash: HashAlgorithm, out: &mut Buf) -> Result<(), CryptoError> {
        if hash != self.hash_algorithm() {
            return Err(CryptoError::SigningKeyHashMismatch { key_hash: self.hash_algorithm(), requested: hash });
        }
        let signer = self.key.choose_scheme(&[self.scheme]).ok_or(failed(CryptoOperation::Sign))?;
        let signature = signer.sign(data).map_err(|_| failed(CryptoOperation::Sign))?;
        out.clear();
        out.extend_from_slice(&signature);
        Ok(())
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        self.hash[0]
    }

    fn supported_hash_algorithms(&self) -> &[HashAlgorithm] {
        &self.hash
    }
}

/// Holds signatures against the key in a certificate.
#[derive(Debug)]
pub(super) struct Verifier;

impl SignatureVerifier for Verifier {
    fn verify_signature(
        &self,
        certificate: &[u8],
        data: &[u8],
        signature: &[u8],
        hash: HashAlgorithm,
        algorithm: SignatureAlgorithm,
    ) -> Result<(), CryptoError> {
        let certificate = Certificate::from_der(certificate).map_err(|_| CryptoError::CertificateParseFailed)?;
        let key = &certificate.tbs_certificate.subject_public_key_info;
        if key.algorithm.oid != ID_EC_PUBLIC_KEY {
            return Err(CryptoError::UnsupportedPublicKeyAlgorithm);
        }
        let curve = key.algorithm.parameters.as_ref().ok_or(CryptoError::MissingEcCurveParameter)?;
        let curve: ObjectIdentifier = curve.decode_as().map_err(|_| CryptoError::InvalidEcCurveParameter)?;
        let (group, verification) = scheme(curve, hash)?;
        check_verify_scheme(algorithm, hash, group)?;
        let key = key.subject_public_key.as_bytes().ok_or(CryptoError::InvalidSubjectPublicKey)?;
        UnparsedPublicKey::new(verification, key)
            .verify(data, signature)
            .map_err(|_| CryptoError::SignatureVerificationFailed { signature: algorithm, hash, group })
    }
}

/// What a key on `curve` signs by, with `hash`.
fn scheme(
    curve: ObjectIdentifier,
    hash: HashAlgorithm,
) -> Result<(NamedGroup, &'static EcdsaVerificationAlgorithm), CryptoError> {
    let (group, by_sha256, by_sha384) = match curve {
        SECP_256_R_1 => (NamedGroup::Secp256r1, &by::ECDSA_P256_SHA256_ASN1, &by::ECDSA_P256_SHA384_ASN1),
        SECP_384_R_1 => (NamedGroup::Secp384r1, &by::ECDSA_P384_SHA256_ASN1, &by::ECDSA_P384_SHA384_ASN1),
        _ => return Err(CryptoError::UnsupportedEcCurve),
    };
    match hash {
        HashAlgorithm::SHA256 => Ok((group, by_sha256)),
        HashAlgorithm::SHA384 => Ok((group, by_sha384)),
        hash => {
            Err(CryptoError::UnsupportedSignatureVerification { signature: SignatureAlgorithm::ECDSA, hash, group })
        }
    }
}
