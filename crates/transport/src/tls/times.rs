//! From when until when certificates and revocation lists hold, for whoever tells an operator in time.

use std::time::Duration;

use lapwing_files::without_marks;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};
use x509_cert::Certificate;
use x509_cert::crl::CertificateList;
use x509_cert::der::Decode;

/// One of them; times since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateTimes {
    /// A revocation list (CRL), and not a certificate.
    pub is_list: bool,
    /// It holds from here on.
    pub from: Duration,
    /// And to here; `None`: without end.
    pub until: Option<Duration>,
}

/// Of everything in `pem` that can be read, certificates first; what cannot is left to whoever uses the file.
pub fn certificate_times(pem: &[u8]) -> Vec<CertificateTimes> {
    let pem = &without_marks(pem);
    let certificates = CertificateDer::pem_slice_iter(pem).flatten();
    let lists = CertificateRevocationListDer::pem_slice_iter(pem).flatten();
    let of_certificates = certificates.filter_map(|der| Certificate::from_der(&der).ok()).map(|certificate| {
        let validity = certificate.tbs_certificate.validity;
        let (from, until) = (validity.not_before.to_unix_duration(), validity.not_after.to_unix_duration());
        CertificateTimes { is_list: false, from, until: Some(until) }
    });
    let of_lists = lists.filter_map(|der| CertificateList::from_der(&der).ok()).map(|list| {
        let list = list.tbs_cert_list;
        let until = list.next_update.map(|end| end.to_unix_duration());
        CertificateTimes { is_list: true, from: list.this_update.to_unix_duration(), until }
    });
    of_certificates.chain(of_lists).collect()
}
