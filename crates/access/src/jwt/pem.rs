//! Public keys in PEM: `BEGIN PUBLIC KEY` (RFC 5280, SubjectPublicKeyInfo), one or several in a text.

use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject;
use x509_cert::der::asn1::{ObjectIdentifier, UintRef};
use x509_cert::der::{Decode, Reader, SliceReader};
use x509_cert::spki::SubjectPublicKeyInfoRef;

use super::key::Key;

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");

/// Every public key of `text`; there is one at least.
///
/// # Errors
/// What is wrong; nothing of a key is in it.
pub(super) fn keys(text: &str) -> Result<Vec<Key>, String> {
    if text.contains("PRIVATE KEY-----") {
        return Err(
            "holds a private key, which belongs to who signs: write the public one here, as openssl pkey -pubout does"
                .into(),
        );
    }
    // What editors put in front of a text hides its first line, and that of each that was put behind another.
    let text = text.replace('\u{feff}', "");
    let found: Vec<_> = SubjectPublicKeyInfoDer::pem_slice_iter(text.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|_| "is no PEM, or cut off".to_owned())?;
    if found.is_empty() {
        return Err("has no BEGIN PUBLIC KEY in it (of a certificate, openssl x509 -pubkey -noout writes it)".into());
    }
    found.iter().map(|der| key(der)).collect()
}

fn key(der: &[u8]) -> Result<Key, String> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| "is no public key".to_owned())?;
    let bits = info.subject_public_key.as_bytes().ok_or("is no public key")?;
    let curve = info.algorithm.parameters.and_then(|parameters| parameters.decode_as::<ObjectIdentifier>().ok());
    match (info.algorithm.oid, curve) {
        (RSA, _) => {
            let (n, e) = rsa_numbers(bits).map_err(|_| "is no RSA public key".to_owned())?;
            Key::rsa(n, e)
        }
        (EC, Some(P256)) => Key::point("P-256", bits),
        (EC, Some(P384)) => Key::point("P-384", bits),
        (ED25519, _) => Key::point("Ed25519", bits),
        _ => Err("is of a kind that is not taken: RSA, P-256, P-384 and Ed25519 are".into()),
    }
}

/// `RSAPublicKey` of RFC 8017, A.1.1.
fn rsa_numbers(der: &[u8]) -> Result<(&[u8], &[u8]), x509_cert::der::Error> {
    let mut reader = SliceReader::new(der)?;
    let numbers = reader.sequence(|inner| {
        let (n, e) = (UintRef::decode(inner)?, UintRef::decode(inner)?);
        Ok((n.as_bytes(), e.as_bytes()))
    })?;
    reader.finish(numbers)
}
