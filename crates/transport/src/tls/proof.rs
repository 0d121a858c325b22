//! What a client has shown in its handshake; kept where its connection does not keep it.

use std::sync::Arc;
use std::time::SystemTime;

use rustls::pki_types::CertificateDer;

use super::Certificates;
use super::name::{self, CertificateName};
use super::trust::{self, Lapse};
use crate::dtls::SharedKey;

/// It, and what it is held against later.
#[derive(Debug)]
pub struct Proof {
    shown: Shown,
    certificates: Arc<Certificates>,
}

#[derive(Debug)]
enum Shown {
    /// A certificate that was verified.
    Certificate([CertificateDer<'static>; 1]),
    /// That it has the key of its identity.
    Key(Arc<SharedKey>),
}

impl Proof {
    pub(crate) fn of_certificate(certificate: CertificateDer<'static>, certificates: Arc<Certificates>) -> Self {
        Proof { shown: Shown::Certificate([certificate]), certificates }
    }

    pub(crate) fn of_key(key: Arc<SharedKey>, certificates: Arc<Certificates>) -> Self {
        Proof { shown: Shown::Key(key), certificates }
    }

    /// As [`crate::Socket::certificate_name`].
    pub fn certificate_name(&self, which: CertificateName) -> Option<String> {
        match &self.shown {
            Shown::Certificate(chain) => name::in_certificate(&chain[0], which),
            Shown::Key(_) => None,
        }
    }

    /// As [`crate::Socket::key_name`].
    pub fn key_name(&self) -> Option<&str> {
        match &self.shown {
            Shown::Certificate(_) => None,
            Shown::Key(key) => Some(key.name()),
        }
    }

    /// Whether both name the same, so that one may be the other renewed.
    pub fn has_names_of(&self, other: &Proof) -> bool {
        let all = [CertificateName::Common, CertificateName::Alternative];
        self.key_name() == other.key_name()
            && all.into_iter().all(|which| self.certificate_name(which) == other.certificate_name(which))
    }

    pub(crate) fn lapse(&self, now: SystemTime) -> Option<Lapse> {
        match &self.shown {
            Shown::Certificate(chain) => self.certificates.lapse(chain, now),
            Shown::Key(key) => (!self.certificates.has_key(key)).then_some(Lapse::Key),
        }
    }

    pub(crate) fn expires_at(&self) -> Option<SystemTime> {
        match &self.shown {
            Shown::Certificate(chain) => trust::expires_at(chain),
            Shown::Key(_) => None,
        }
    }
}
