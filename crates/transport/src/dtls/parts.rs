//! What the connections of one listener have in common: its certificate, what it asks of peers, and how long it waits.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dimpl::{Config, DtlsCertificate};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;

use super::crypto;
use super::keys::SharedKeys;
use crate::error::BindError;
use crate::settings::{ClientCertificate, TlsSettings};

/// How long the first answer is waited for before what was sent goes again; then twice as long, and so on.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Datagrams of a peer that may wait for one that comes before them: a handshake's chain of certificates and some more.
const QUEUE_DATAGRAMS_MAX: usize = 16;

/// What a listener of datagrams has beyond those of TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DtlsSettings {
    /// The largest datagram of a handshake.
    pub datagram_bytes_max: u16,
    /// From the first hello to the end of the handshake.
    pub handshake_timeout: Duration,
    /// Pre-shared keys, a file of lines `IDENTITY:KEY`.
    pub keys: Option<PathBuf>,
}

/// Made when the files are read.
pub(crate) struct DtlsParts {
    pub(super) config: Arc<Config>,
    /// None: only who has a key gets in.
    pub(super) certificate: Option<DtlsCertificate>,
    pub(crate) keys: Option<Arc<SharedKeys>>,
    pub(super) verifier: Option<Arc<dyn ClientCertVerifier>>,
}

impl fmt::Debug for DtlsParts {
    /// Nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DtlsParts").finish_non_exhaustive()
    }
}

impl DtlsParts {
    /// From a chain and its key, which belong together, or without; one of them or the keys are there.
    ///
    /// # Errors
    /// `Certificate`: DTLS has no use for such a chain or key, or for certificates that a client may leave out; or the file of
    /// keys cannot be used.
    pub(crate) fn new(
        own: &DtlsSettings,
        files: Option<(&TlsSettings, &[CertificateDer<'static>], &PrivateKeyDer<'static>)>,
        verifier: Option<Arc<dyn ClientCertVerifier>>,
    ) -> Result<Self, BindError> {
        let keys = own.keys.as_deref().map(SharedKeys::read).transpose()?.map(Arc::new);
        let certificate = files.map(|(settings, chain, key)| usable(settings, chain, key)).transpose()?;
        let mut config = Config::builder()
            .with_crypto_provider(crypto::provider())
            .require_client_certificate(verifier.is_some())
            .use_server_cookie(true)
            .mtu(own.datagram_bytes_max.into())
            .max_queue_rx(QUEUE_DATAGRAMS_MAX)
            .flight_start_rto(FIRST_WAIT)
            .handshake_timeout(own.handshake_timeout);
        if let Some(keys) = &keys {
            config = config.with_psk_server(None, keys.clone());
        }
        let file = files.map(|(settings, ..)| settings.certificate.clone()).or(own.keys.clone()).unwrap_or_default();
        let config = config.build().map_err(|error| wrong(&file, error.to_string(), "Please report this."))?;
        Ok(DtlsParts { config: Arc::new(config), certificate, keys, verifier })
    }
}

/// What DTLS can send and sign with.
fn usable(
    settings: &TlsSettings,
    chain: &[CertificateDer<'static>],
    key: &PrivateKeyDer<'static>,
) -> Result<DtlsCertificate, BindError> {
    let [certificate] = chain else {
        let what = format!("there are {} certificates in this file, and DTLS sends one", chain.len());
        let remedy = "Leave the listener's own, and give clients the one that has signed it.";
        return Err(wrong(&settings.certificate, what, remedy));
    };
    let key = key.secret_der().to_vec();
    if crypto::provider().key_provider.load_private_key(&key).is_err() {
        let what = "the key in this file is not on the curve P-256 or P-384, and DTLS takes no other".into();
        return Err(wrong(&settings.key, what, "Make an ECDSA P-256 key, and a certificate for it."));
    }
    if settings.client_certificate == ClientCertificate::Optional {
        let what = "client certificates are optional, and DTLS asks for them or does not".into();
        return Err(wrong(&settings.certificate, what, "Set client_certificate to \"required\" or \"none\"."));
    }
    Ok(DtlsCertificate { certificate: certificate.to_vec(), private_key: key })
}

fn wrong(file: &Path, what: String, remedy: &'static str) -> BindError {
    BindError::Certificate { file: file.to_owned(), what, remedy }
}
