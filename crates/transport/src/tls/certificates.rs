//! The certificates of one listener: read from files, and read again when they were renewed.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{InconsistentKeys, RootCertStore, ServerConfig, ServerConnection};

use super::Tls;
use crate::error::BindError;
use crate::settings::{ClientCertificate, TlsSettings};

/// More than any chain or list of roots in use.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Loaded certificates; shared by all clones of a listener. A handshake takes those of its moment.
pub struct Certificates {
    settings: TlsSettings,
    /// Written by [`Certificates::reload`], read once per connection.
    current: RwLock<Arc<ServerConfig>>,
}

impl fmt::Debug for Certificates {
    /// Names of files only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Certificates {
    /// Reads the files.
    ///
    /// # Errors
    /// `Certificate`: names the file and what is wrong with it.
    pub fn load(settings: TlsSettings) -> Result<Self, BindError> {
        let current = RwLock::new(Arc::new(configuration(&settings)?));
        Ok(Certificates { settings, current })
    }

    /// Reads the files again; new handshakes use what they hold now.
    ///
    /// # Errors
    /// As [`Certificates::load`]; then everything stays as it was.
    pub fn reload(&self) -> Result<(), BindError> {
        let fresh = Arc::new(configuration(&self.settings)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// The server's side of a connection that begins now.
    pub(crate) fn accept(&self) -> Result<Tls, rustls::Error> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        ServerConnection::new(current).map(Tls::new)
    }
}

fn configuration(settings: &TlsSettings) -> Result<ServerConfig, BindError> {
    let chain = certificates(&settings.certificate)?;
    let key = private_key(&settings.key)?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&settings.certificate, error.to_string(), "Please report this."))?;
    let builder = match client_verifier(settings, provider)? {
        None => builder.with_no_client_auth(),
        Some(verifier) => builder.with_client_cert_verifier(verifier),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| unfit(settings, &error))?;
    // Tickets keep no session here; a reload makes new keys for them, so that nobody resumes what the old files allowed.
    if let Ok(ticketer) = ring::Ticketer::new() {
        config.ticketer = ticketer;
    }
    config.max_early_data_size = 0;
    Ok(config)
}

/// Why certificate and key cannot be used together.
fn unfit(settings: &TlsSettings, error: &rustls::Error) -> BindError {
    match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => wrong(
            &settings.key,
            format!("this key does not belong to the certificate in {}", settings.certificate.display()),
            "Name the key that the certificate was issued for; in the file its own certificate comes first.",
        ),
        error => wrong(
            &settings.certificate,
            error.to_string(),
            "Use an X.509 certificate with an RSA, ECDSA or Ed25519 key.",
        ),
    }
}

fn client_verifier(
    settings: &TlsSettings,
    provider: Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ClientCertVerifier>>, BindError> {
    let (ClientCertificate::Optional | ClientCertificate::Required, Some(file)) =
        (settings.client_certificate, settings.client_ca.as_deref())
    else {
        return Ok(None);
    };
    let remedy = "Put the certificates of the authorities that sign your clients' into this file, in PEM.";
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| wrong(file, error.to_string(), remedy))?;
    }
    let mut builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    if settings.client_certificate == ClientCertificate::Optional {
        builder = builder.allow_unauthenticated();
    }
    builder.build().map(Some).map_err(|error| wrong(file, error.to_string(), remedy))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, BindError> {
    let pem = read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let remedy = "Write the certificates in PEM, between BEGIN CERTIFICATE and END CERTIFICATE.";
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(wrong(file, "there is no certificate in this file".into(), remedy)),
        Err(_) => Err(wrong(file, "this file is not valid PEM".into(), remedy)),
    }
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, BindError> {
    let pem = read(file)?;
    let key = PrivateKeyDer::from_pem_slice(&pem).ok();
    // Whether it is a key at all is asked here, where the file to blame is known.
    key.filter(|key| ring::sign::any_supported_type(key).is_ok()).ok_or_else(|| {
        let remedy = "Write an RSA, ECDSA or Ed25519 key in PEM (PKCS#8, PKCS#1 or SEC1), without a pass phrase.";
        wrong(file, "there is no private key that can be read in this file".into(), remedy)
    })
}

fn read(file: &Path) -> Result<Vec<u8>, BindError> {
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|opened| opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    let remedy = "Name a file that exists and that the broker's user may read.";
    opened.map_err(|error| wrong(file, format!("this file cannot be read: {error}"), remedy))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(wrong(file, format!("this file has more than {FILE_BYTES_MAX} bytes"), remedy));
    }
    Ok(bytes)
}

fn wrong(file: &Path, what: String, remedy: &'static str) -> BindError {
    BindError::Certificate { file: file.to_owned(), what, remedy }
}
