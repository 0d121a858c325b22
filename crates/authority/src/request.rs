//! A request for a certificate (PKCS #10, RFC 2986), as it comes from another machine.

use rcgen::{PKCS_ECDSA_P256_SHA256, PublicKeyData, SignatureAlgorithm};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use rustls_pki_types::CertificateSigningRequestDer;
use rustls_pki_types::pem::PemObject;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::oid::db::rfc5912::{ECDSA_WITH_SHA_256, ID_EC_PUBLIC_KEY, SECP_256_R_1};
use x509_cert::der::{Decode, Encode};
use x509_cert::request::CertReq;

use crate::fault::Fault;

/// The longest request that is read; one has some 400.
pub const REQUEST_BYTES_MAX: usize = 8 << 10;

/// The public half of a node's key.
pub(crate) struct PublicKey(Vec<u8>);

impl PublicKey {
    /// Out of a request in PEM, once its signature has shown that whoever sends it has the other half: else one could have a
    /// certificate made for a key of somebody else's.
    pub(crate) fn of_request(pem: &str) -> Result<Self, Fault> {
        if pem.len() > REQUEST_BYTES_MAX {
            return Err(Fault::NoRequest);
        }
        let der = CertificateSigningRequestDer::from_pem_slice(pem.as_bytes()).map_err(|_| Fault::NoRequest)?;
        Self::of_request_der(&der).ok_or(Fault::NoRequest)
    }

    fn of_request_der(der: &[u8]) -> Option<Self> {
        let request = CertReq::from_der(der).ok()?;
        let key = &request.info.public_key;
        let curve: ObjectIdentifier = key.algorithm.parameters.as_ref()?.decode_as().ok()?;
        let is_known =
            (key.algorithm.oid, curve, request.algorithm.oid) == (ID_EC_PUBLIC_KEY, SECP_256_R_1, ECDSA_WITH_SHA_256);
        let (key, signature) = (key.subject_public_key.as_bytes()?, request.signature.as_bytes()?);
        let signed = request.info.to_der().ok()?;
        let is_shown = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, key).verify(&signed, signature).is_ok();
        (is_known && is_shown).then(|| PublicKey(key.to_vec()))
    }
}

impl PublicKeyData for PublicKey {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}
