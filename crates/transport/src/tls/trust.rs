//! What a certificate of a client is held against while its connection lasts: the authorities, and what they took back.
//!
//! The handshake verifies everything, signatures included. Later only what can have changed is looked at: time, the list of
//! authorities, and their lists of revocations. That is a few look-ups, so that thousands of connections can be gone through.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};
use x509_cert::Certificate;
use x509_cert::crl::CertificateList;
use x509_cert::der::{Decode, Encode};
use x509_cert::name::Name;

use super::files::{read, wrong};
use crate::error::BindError;

/// Why a certificate that was good when its connection began is so no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Lapse {
    /// Its time is over, or that of one between it and the root.
    Expired,
    /// Its authority has taken it back, or one between it and the root.
    Revoked,
    /// It leads to none of the authorities that are trusted now.
    Untrusted,
    /// It is a pre-shared key, and not that of its device any more.
    Key,
}

impl Lapse {
    /// How many there are.
    pub const COUNT: usize = 4;
    /// Each of them, in the order of the variants.
    pub const ALL: [Lapse; Self::COUNT] = [Lapse::Expired, Lapse::Revoked, Lapse::Untrusted, Lapse::Key];

    /// A short, stable name, for counters.
    pub fn name(self) -> &'static str {
        match self {
            Lapse::Expired => "expired",
            Lapse::Revoked => "revoked",
            Lapse::Untrusted => "untrusted",
            Lapse::Key => "key",
        }
    }
}

/// A certificate by its issuer and its serial number, both as they stand in it.
type Number = (Box<[u8]>, Box<[u8]>);

/// Authorities by name, and what they have revoked.
#[derive(Debug, Default)]
pub(super) struct Trust {
    roots: HashSet<Box<[u8]>>,
    /// An authority's certificate could not be read here, though the handshake can: nobody is said to lead to none.
    has_unread_root: bool,
    revoked: HashSet<Number>,
    /// The list that is over first, and when: seconds since 1970.
    first_end: Option<(Duration, PathBuf)>,
}

impl Trust {
    /// Trusts `root`.
    pub(super) fn add_root(&mut self, root: &CertificateDer<'_>) {
        match Certificate::from_der(root).ok().and_then(|root| bytes(&root.tbs_certificate.subject)) {
            Some(subject) => _ = self.roots.insert(subject),
            None => self.has_unread_root = true,
        }
    }

    /// Takes up all revocation lists in `file`; returns them for the handshakes.
    ///
    /// `now`: since 1970. A list whose time is over is refused: nobody can say what was revoked since.
    ///
    /// # Errors
    /// `Certificate`: names the file and what is wrong with it.
    pub(super) fn add_lists(
        &mut self,
        file: &Path,
        now: Duration,
    ) -> Result<Vec<CertificateRevocationListDer<'static>>, BindError> {
        let remedy = "Write the revocation lists (CRL) of the authorities in client_ca in PEM, between BEGIN X509 CRL and END X509 CRL.";
        let found: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(&read(file)?).collect();
        let lists = match found {
            Ok(lists) if !lists.is_empty() => lists,
            Ok(_) => return Err(wrong(file, "there is no revocation list (CRL) in this file".into(), remedy)),
            Err(_) => return Err(wrong(file, "this file is not valid PEM".into(), remedy)),
        };
        for list in &lists {
            let list = CertificateList::from_der(list)
                .map_err(|_| wrong(file, "a revocation list in this file cannot be read".into(), remedy))?;
            self.add_list(&list, file, now)?;
        }
        Ok(lists)
    }

    fn add_list(&mut self, list: &CertificateList, file: &Path, now: Duration) -> Result<(), BindError> {
        let list = &list.tbs_cert_list;
        if let Some(end) = list.next_update {
            if end.to_unix_duration() <= now {
                let what = format!(
                    "the revocation list in this file was to be replaced by {end}, and may lack what was revoked since"
                );
                return Err(wrong(file, what, "Fetch the newest list of the authority and write it into this file."));
            }
            let end = (end.to_unix_duration(), file.to_owned());
            self.first_end = Some(self.first_end.take().map_or(end.clone(), |first| first.min(end)));
        }
        let Some(issuer) = bytes(&list.issuer) else { return Ok(()) };
        let revoked = list.revoked_certificates.iter().flatten();
        self.revoked.extend(revoked.map(|entry| (issuer.clone(), entry.serial_number.as_bytes().into())));
        Ok(())
    }

    /// The revocation list that is over first, and when.
    pub(super) fn first_end(&self) -> Option<(SystemTime, PathBuf)> {
        self.first_end.as_ref().map(|(end, file)| (SystemTime::UNIX_EPOCH + *end, file.clone()))
    }

    /// Why the first certificate of `chain`, which a handshake has verified with the others, is not good any more.
    ///
    /// `now`: since 1970. The handshake reads a few certificates that are not read here; what cannot be read is no reason.
    pub(super) fn lapse(&self, chain: &[CertificateDer<'_>], now: Duration) -> Option<Lapse> {
        let (path, is_whole) = path(chain);
        for certificate in &path {
            let certificate = &certificate.tbs_certificate;
            let issuer = bytes(&certificate.issuer)?;
            if certificate.validity.not_after.to_unix_duration() < now {
                return Some(Lapse::Expired);
            }
            if self.revoked.contains(&(issuer.clone(), certificate.serial_number.as_bytes().into())) {
                return Some(Lapse::Revoked);
            }
            if self.roots.contains(&issuer) {
                return None;
            }
        }
        (is_whole && !self.has_unread_root).then_some(Lapse::Untrusted)
    }
}

/// When the first certificate of `chain` ends, or one that it rests on.
pub(crate) fn expires_at(chain: &[CertificateDer<'_>]) -> Option<SystemTime> {
    let ends = path(chain).0.into_iter().map(|certificate| certificate.tbs_certificate.validity.not_after);
    ends.map(|end| SystemTime::UNIX_EPOCH + end.to_unix_duration()).min()
}

/// From the first certificate to its issuer, as far as `chain` has it, and so on; what else was sent has no part in it. And
/// whether all of `chain` could be read, so that the path ends where it says.
fn path(chain: &[CertificateDer<'_>]) -> (Vec<Certificate>, bool) {
    let Some(Ok(first)) = chain.first().map(|der| Certificate::from_der(der)) else { return (Vec::new(), false) };
    let mut others: Vec<Certificate> = chain[1..].iter().filter_map(|der| Certificate::from_der(der).ok()).collect();
    let is_whole = others.len() + 1 == chain.len();
    let mut path = vec![first];
    while let Some(last) = path.last()
        && let Some(at) = others.iter().position(|other| other.tbs_certificate.subject == last.tbs_certificate.issuer)
    {
        path.push(others.remove(at));
    }
    (path, is_whole)
}

fn bytes(name: &Name) -> Option<Box<[u8]>> {
    name.to_der().ok().map(Vec::into_boxed_slice)
}
