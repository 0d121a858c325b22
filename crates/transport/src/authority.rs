//! Certificates for tests and oracles: an authority, what it signs, and a folder for the files.

use std::path::PathBuf;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, SanType,
};
use tempfile::TempDir;

use crate::settings::{ClientCertificate, TlsSettings};

/// One of its own for whoever makes it.
pub(crate) struct Authority {
    pub(crate) folder: TempDir,
    pub(crate) issuer: Issuer<'static, KeyPair>,
    /// Its own certificate.
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new([]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Authority { folder: TempDir::new().expect("a folder"), issuer: Issuer::new(params, key), pem }
    }

    /// A file in its folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// A certificate with these names, and its key.
    pub(crate) fn issue(&self, common: &[&str], alternative: &[SanType]) -> (Certificate, KeyPair) {
        let key = KeyPair::generate().expect("a key");
        (self.certify(&key, common, alternative), key)
    }

    /// A certificate with these names for a key that is there.
    pub(crate) fn certify(&self, key: &KeyPair, common: &[&str], alternative: &[SanType]) -> Certificate {
        let mut params = CertificateParams::new([]).expect("no names");
        params.distinguished_name = DistinguishedName::new();
        for (n, name) in common.iter().enumerate() {
            // A second one of the same kind would take the place of the first, so it goes by its number.
            let kind = if n == 0 { DnType::CommonName } else { DnType::CustomDnType(vec![2, 5, 4, 3]) };
            params.distinguished_name.push(kind, *name);
        }
        params.subject_alt_names = alternative.to_vec();
        params.signed_by(key, &self.issuer).expect("a certificate")
    }

    /// Files of a server of this authority with this key, and what it asks of clients.
    pub(crate) fn settings_of(&self, key: &KeyPair, client_certificate: ClientCertificate) -> TlsSettings {
        let names = [SanType::DnsName("localhost".try_into().expect("a name"))];
        TlsSettings {
            certificate: self.write("server.pem", &self.certify(key, &["broker"], &names).pem()),
            key: self.write("server.key", &key.serialize_pem()),
            client_ca: Some(self.write("ca.pem", &self.pem)),
            crls: Vec::new(),
            client_certificate,
        }
    }

    /// The same with a key of its own.
    pub(crate) fn settings(&self, client_certificate: ClientCertificate) -> TlsSettings {
        self.settings_of(&KeyPair::generate().expect("a key"), client_certificate)
    }
}
