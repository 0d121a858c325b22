//! How long RSA keys are: rustls and OpenSSL say only that one cannot be used, and of authorities nothing.

use std::fmt;

use lapwing_files::without_marks;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_cert::Certificate;
use x509_cert::der::asn1::{AnyRef, OctetStringRef, UintRef};
use x509_cert::der::oid::db::rfc5912::RSA_ENCRYPTION;
use x509_cert::der::{Decode, Error, NestedReader, Reader, SliceReader};
use x509_cert::spki::AlgorithmIdentifierRef;

/// Fewer bits are refused by TLS here and at most peers.
const BITS_MIN: u32 = 2048;

/// An RSA key that is too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WeakRsaKey {
    /// Of its modulus.
    pub bits: u32,
}

impl fmt::Display for WeakRsaKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RSA of {} bits, and fewer than {BITS_MIN} hold nobody off", self.bits)
    }
}

/// The shortest RSA key of the certificates in `pem`, if it is too short; what cannot be read has none.
pub fn weak_rsa_key(pem: &[u8]) -> Option<WeakRsaKey> {
    let pem = &without_marks(pem);
    let certificates = CertificateDer::pem_slice_iter(pem).flatten();
    certificates.filter_map(|der| bits_of_certificate(&der)).min().and_then(weak)
}

/// A private key that is too short.
pub(super) fn weak_private_key(key: &PrivateKeyDer<'_>) -> Option<WeakRsaKey> {
    bits_of_private_key(key).and_then(weak)
}

/// The bits of a private key; `None`: it is no RSA key.
pub(super) fn bits_of_private_key(key: &PrivateKeyDer<'_>) -> Option<u32> {
    match key {
        PrivateKeyDer::Pkcs1(der) => bits_of_pkcs1(der.secret_pkcs1_der()).ok(),
        PrivateKeyDer::Pkcs8(der) => {
            let key = in_sequence(der.secret_pkcs8_der(), pkcs8_rsa_key).ok().flatten()?;
            bits_of_pkcs1(key.as_bytes()).ok()
        }
        _ => None,
    }
}

fn weak(bits: u32) -> Option<WeakRsaKey> {
    (bits < BITS_MIN).then_some(WeakRsaKey { bits })
}

fn bits_of_certificate(der: &[u8]) -> Option<u32> {
    let info = Certificate::from_der(der).ok()?.tbs_certificate.subject_public_key_info;
    let key = info.subject_public_key.as_bytes().filter(|_| info.algorithm.oid == RSA_ENCRYPTION)?;
    // `RSAPublicKey` of RFC 8017, A.1.1: the modulus comes first.
    in_sequence(key, |fields| UintRef::decode(fields)).ok().and_then(bits)
}

/// `RSAPrivateKey` of RFC 8017, A.1.2: the modulus stands behind the version.
fn bits_of_pkcs1(der: &[u8]) -> Result<u32, Error> {
    in_sequence(der, |fields| u8::decode(fields).and_then(|_version| UintRef::decode(fields)))
        .map(|modulus| bits(modulus).unwrap_or(0))
}

/// `PrivateKeyInfo` of RFC 5208: version, algorithm, and the key in an octet string.
fn pkcs8_rsa_key<'a>(fields: &mut NestedReader<'_, SliceReader<'a>>) -> Result<Option<OctetStringRef<'a>>, Error> {
    let (_version, algorithm) = (u8::decode(fields)?, AlgorithmIdentifierRef::decode(fields)?);
    let key = OctetStringRef::decode(fields)?;
    Ok(Some(key).filter(|_| algorithm.oid == RSA_ENCRYPTION))
}

/// What `read` takes from the front of a sequence; what follows there is passed over.
fn in_sequence<'a, T>(
    der: &'a [u8],
    read: impl FnOnce(&mut NestedReader<'_, SliceReader<'a>>) -> Result<T, Error>,
) -> Result<T, Error> {
    SliceReader::new(der)?.sequence(|fields| {
        let found = read(fields)?;
        while !fields.is_finished() {
            AnyRef::decode(fields)?;
        }
        Ok(found)
    })
}

/// Without zeros before the number; `None`: it is zero.
fn bits(modulus: UintRef<'_>) -> Option<u32> {
    let first = modulus.as_bytes().first()?;
    Some(8 * modulus.as_bytes().len() as u32 - first.leading_zeros())
}
