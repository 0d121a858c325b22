//! Who may be at the other end.

use std::sync::Arc;

use lapwing_authority::{Fault, NodeName, fingerprint};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, PeerIncompatible, RootCertStore,
    SignatureScheme,
};

use super::PeerRefusal;

/// By which a client asks for any node of its cluster; see [`NodeName::server_name`] for one of them.
pub(super) const ANY_NODE: &str = "lapwing.internal";

/// Takes nodes of one cluster, by certificates that lead to its authority.
#[derive(Debug)]
pub(super) struct OfCluster {
    pub(super) cluster: [u8; 16],
    pub(super) roots: Arc<RootCertStore>,
    /// Of the library, with the same roots.
    pub(super) clients: Arc<dyn ClientCertVerifier>,
    pub(super) provider: Arc<CryptoProvider>,
}

impl OfCluster {
    fn name(&self, certificate: &CertificateDer<'_>) -> Result<NodeName, Error> {
        let name = name_in(certificate)?;
        if name.cluster() == self.cluster { Ok(name) } else { Err(refused(PeerRefusal::OtherCluster)) }
    }
}

impl ServerCertVerifier for OfCluster {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        verify_chain(end_entity, intermediates, &self.roots, now, &self.provider)?;
        let name = self.name(end_entity)?;
        let asked = server_name.to_str();
        if asked != ANY_NODE && asked != name.server_name() {
            return Err(refused(PeerRefusal::OtherNode));
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(only_tls_1_3())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for OfCluster {
    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.clients.verify_client_cert(end_entity, intermediates, now)?;
        self.name(end_entity).map(|_| verified)
    }

    /// None: a node has one certificate, and shows that.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(only_tls_1_3())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.clients.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.clients.supported_verify_schemes()
    }
}

/// Takes any node whose certificate leads to the one authority with this fingerprint, which must have been shown with it: all
/// that somebody knows who has a token.
#[derive(Debug)]
pub(super) struct OfFingerprint {
    pub(super) authority: [u8; 32],
    pub(super) provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OfFingerprint {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let authority = intermediates.iter().find(|shown| fingerprint(shown) == self.authority);
        let authority = authority.ok_or_else(|| refused(PeerRefusal::OtherAuthority))?;
        let mut roots = RootCertStore::empty();
        roots.add(authority.clone().into_owned())?;
        verify_chain(end_entity, intermediates, &roots, now, &self.provider)?;
        name_in(end_entity).map(|_| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(only_tls_1_3())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Signatures, times and purposes from a server's certificate up to one of `roots`.
fn verify_chain(
    end_entity: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    roots: &RootCertStore,
    now: UnixTime,
    provider: &CryptoProvider,
) -> Result<(), Error> {
    let certificate = ParsedCertificate::try_from(end_entity)?;
    let algorithms = provider.signature_verification_algorithms.all;
    verify_server_cert_signed_by_trust_anchor(&certificate, roots, intermediates, now, algorithms)
}

fn name_in(certificate: &CertificateDer<'_>) -> Result<NodeName, Error> {
    NodeName::of(certificate).map_err(|fault| match fault {
        Fault::NoCertificate => CertificateError::BadEncoding.into(),
        _ => refused(PeerRefusal::Nameless),
    })
}

fn refused(refusal: PeerRefusal) -> Error {
    CertificateError::Other(OtherError(Arc::new(refusal))).into()
}

/// Never asked for: no other version is spoken.
fn only_tls_1_3() -> Error {
    PeerIncompatible::Tls12NotOffered.into()
}
