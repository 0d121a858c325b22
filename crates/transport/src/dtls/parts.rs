//! What the connections of one listener have in common: its certificate, what it asks of peers, and how long it waits.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dimpl::{Config, DtlsCertificate};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;

use super::crypto;
use crate::error::BindError;
use crate::settings::{ClientCertificate, TlsSettings};

/// How long the first answer is waited for before what was sent goes again; then twice as long, and so on.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Datagrams of a peer that may wait for one that comes before them: a handshake's chain of certificates and some more.
const QUEUE_DATAGRAMS_MAX: usize = 16;

/// What a listener of datagrams has beyond those of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DtlsSettings {
    /// The largest datagram of a handshake.
    pub datagram_bytes_max: u16,
    /// From the first hello to the end of the handshake.
    pub handshake_timeout: Duration,
}

/// Made when the files are read.
pub(crate) struct DtlsParts {
    pub(super) config: Arc<Config>,
    pub(super) certificate: DtlsCertificate,
    pub(super) verifier: Option<Arc<dyn ClientCertVerifier>>,
}

impl fmt::Debug for DtlsParts {
    /// Nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DtlsParts").finish_non_exhaustive()
    }
}

impl DtlsParts {
    /// From a chain and its key, which belong together.
    ///
    /// # Errors
    /// `Certificate`: DTLS has no use for such a chain or key, or for certificates that a client may leave out.
    pub(crate) fn new(
        settings: &TlsSettings,
        own: DtlsSettings,
        chain: &[CertificateDer<'static>],
        key: &PrivateKeyDer<'static>,
        verifier: Option<Arc<dyn ClientCertVerifier>>,
    ) -> Result<Self, BindError> {
        let wrong = |file: &std::path::Path, what: String, remedy| {
            Err(BindError::Certificate { file: file.to_owned(), what, remedy })
        };
        let [certificate] = chain else {
            let what = format!("there are {} certificates in this file, and DTLS sends one", chain.len());
            let remedy = "Leave the listener's own, and give clients the one that has signed it.";
            return wrong(&settings.certificate, what, remedy);
        };
        let provider = crypto::provider();
        let key = key.secret_der().to_vec();
        if provider.key_provider.load_private_key(&key).is_err() {
            let what = "the key in this file is not on the curve P-256 or P-384, and DTLS takes no other".into();
            return wrong(&settings.key, what, "Make an ECDSA P-256 key, and a certificate for it.");
        }
        if settings.client_certificate == ClientCertificate::Optional {
            let what = "client certificates are optional, and DTLS asks for them or does not".into();
            return wrong(&settings.certificate, what, "Set client_certificate to \"required\" or \"none\".");
        }
        let config = Config::builder()
            .with_crypto_provider(provider)
            .require_client_certificate(verifier.is_some())
            .use_server_cookie(true)
            .mtu(own.datagram_bytes_max.into())
            .max_queue_rx(QUEUE_DATAGRAMS_MAX)
            .flight_start_rto(FIRST_WAIT)
            .handshake_timeout(own.handshake_timeout)
            .build();
        let config = match config {
            Ok(config) => Arc::new(config),
            Err(error) => return wrong(&settings.certificate, error.to_string(), "Please report this."),
        };
        let certificate = DtlsCertificate { certificate: certificate.to_vec(), private_key: key };
        Ok(DtlsParts { config, certificate, verifier })
    }
}
