//! Client certificates held against every revocation list there is.
//!
//! The library looks at the first list of an authority and at no other: where a newer one stands behind it, in its file or the
//! next, who was revoked since would come in.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

use super::trust::{Lapse, Trust};

/// Verifies as the library's own does, and refuses who stands on any list.
#[derive(Debug)]
pub(super) struct EveryList {
    pub(super) library: Arc<dyn ClientCertVerifier>,
    pub(super) trust: Arc<Trust>,
}

impl ClientCertVerifier for EveryList {
    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.library.verify_client_cert(end_entity, intermediates, now)?;
        let chain: Vec<CertificateDer<'_>> = [end_entity].into_iter().chain(intermediates).cloned().collect();
        match self.trust.lapse(&chain, std::time::Duration::from_secs(now.as_secs())) {
            Some(Lapse::Revoked) => Err(CertificateError::Revoked.into()),
            _ => Ok(verified),
        }
    }

    fn offer_client_auth(&self) -> bool {
        self.library.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.library.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.library.root_hint_subjects()
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.library.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.library.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.library.supported_verify_schemes()
    }
}
