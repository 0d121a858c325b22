//! A certificate that a client has shown, and that was verified then; kept where its connection does not keep it.

use std::sync::Arc;
use std::time::SystemTime;

use rustls::pki_types::CertificateDer;

use super::Certificates;
use super::name::{self, CertificateName};
use super::trust::{self, Lapse};

/// It, and what it is held against later.
#[derive(Debug)]
pub struct ShownCertificate {
    chain: [CertificateDer<'static>; 1],
    certificates: Arc<Certificates>,
}

impl ShownCertificate {
    pub(crate) fn new(certificate: CertificateDer<'static>, certificates: Arc<Certificates>) -> Self {
        ShownCertificate { chain: [certificate], certificates }
    }

    /// As [`crate::Socket::certificate_name`].
    pub fn name(&self, which: CertificateName) -> Option<String> {
        name::in_certificate(&self.chain[0], which)
    }

    /// Whether both certificates name the same, so that one may be the other renewed.
    pub fn has_names_of(&self, other: &ShownCertificate) -> bool {
        let all = [CertificateName::Common, CertificateName::Alternative];
        all.into_iter().all(|which| self.name(which) == other.name(which))
    }

    pub(crate) fn lapse(&self, now: SystemTime) -> Option<Lapse> {
        self.certificates.lapse(&self.chain, now)
    }

    pub(crate) fn expires_at(&self) -> Option<SystemTime> {
        trust::expires_at(&self.chain)
    }
}
