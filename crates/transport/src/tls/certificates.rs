//! The certificates of one listener: read from files, and read again when they were renewed.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::{InconsistentKeys, RootCertStore, ServerConfig, ServerConnection};

use super::Tls;
use super::every_list::EveryList;
use super::files::{certificates, private_key, wrong};
use super::rsa::bits_of_private_key;
use super::trust::{Lapse, Trust};
use crate::dtls::{Dtls, DtlsParts, DtlsSettings, SharedKey};
use crate::error::BindError;
use crate::settings::{ClientCertificate, TlsSettings};

/// Sessions remembered for clients of TLS 1.2 that take no tickets; the oldest makes room.
const SESSIONS_MAX: usize = 1024;

/// Loaded certificates; shared by all clones of a listener. A handshake takes those of its moment.
pub struct Certificates {
    /// None: who comes has a pre-shared key.
    settings: Option<TlsSettings>,
    /// Set exactly where it is datagrams that come.
    datagrams: Option<DtlsSettings>,
    /// Written by [`Certificates::take`], read once per connection.
    current: RwLock<Arc<Loaded>>,
}

/// What the files held when they were read.
struct Loaded {
    /// Set exactly where there is a certificate.
    config: Option<Arc<ServerConfig>>,
    trust: Arc<Trust>,
    rsa_bits: Option<u32>,
    /// The same for DTLS, where it is datagrams that come.
    dtls: Option<DtlsParts>,
}

/// What verifies client certificates in handshakes, if anything does, and what they are held against later.
type Verifying = (Option<Arc<dyn ClientCertVerifier>>, Arc<Trust>);

/// Certificates that were read again and are not in force yet.
pub struct FreshCertificates(Arc<Loaded>);

impl fmt::Debug for FreshCertificates {
    /// Nothing of what was read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FreshCertificates").finish_non_exhaustive()
    }
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
        Self::read(Some(settings), None)
    }

    /// The same for a listener of datagrams; without `settings` it has pre-shared keys, and nobody comes who has none.
    ///
    /// # Errors
    /// As [`Certificates::load`]; and `Certificate` where a file has what DTLS cannot use.
    pub fn load_for_datagrams(settings: Option<TlsSettings>, datagrams: DtlsSettings) -> Result<Self, BindError> {
        Self::read(settings, Some(datagrams))
    }

    fn read(settings: Option<TlsSettings>, datagrams: Option<DtlsSettings>) -> Result<Self, BindError> {
        let current = RwLock::new(Arc::new(Loaded::read(settings.as_ref(), datagrams.as_ref())?));
        Ok(Certificates { settings, datagrams, current })
    }

    /// What the files hold now; [`Certificates::take`] puts it in force.
    ///
    /// # Errors
    /// As [`Certificates::load`].
    pub fn read_again(&self) -> Result<FreshCertificates, BindError> {
        Ok(FreshCertificates(Arc::new(Loaded::read(self.settings.as_ref(), self.datagrams.as_ref())?)))
    }

    /// New handshakes use `fresh`.
    pub fn take(&self, fresh: FreshCertificates) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = fresh.0;
    }

    /// The file of the key, and its bits, if it is an RSA key: its signatures cost by far the most.
    pub fn rsa_key(&self) -> Option<(PathBuf, u32)> {
        self.settings.as_ref().zip(self.current().rsa_bits).map(|(settings, bits)| (settings.key.clone(), bits))
    }

    /// The revocation list that is over first: from then on no client certificate is taken. And its file.
    pub fn revocations_end(&self) -> Option<(SystemTime, PathBuf)> {
        self.current().trust.first_end()
    }

    /// The server's side of a connection that begins now.
    pub(crate) fn accept(self: &Arc<Self>) -> Result<Tls, rustls::Error> {
        let config = self.current().config.clone();
        let config = config.ok_or_else(|| rustls::Error::General("there is no certificate".into()))?;
        ServerConnection::new(config).map(|connection| Tls::new(connection, self.clone()))
    }

    /// The server's side of a connection of datagrams that begins at `now`; `None` where it is streams that come.
    pub fn accept_datagrams(self: &Arc<Self>, now: Instant) -> Option<Dtls> {
        self.current().dtls.as_ref().map(|parts| Dtls::new(self.clone(), parts, now))
    }

    /// Why a chain that a handshake has verified is not good any more.
    pub(super) fn lapse(&self, chain: &[CertificateDer<'_>], now: SystemTime) -> Option<Lapse> {
        self.current().trust.lapse(chain, since_1970(now))
    }

    /// Whether a pre-shared key is still that of its device.
    pub(super) fn has_key(&self, key: &SharedKey) -> bool {
        let current = self.current();
        current.dtls.as_ref().and_then(|parts| parts.keys.as_ref()).is_some_and(|keys| keys.has(key))
    }

    fn current(&self) -> Arc<Loaded> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Loaded {
    fn read(settings: Option<&TlsSettings>, datagrams: Option<&DtlsSettings>) -> Result<Self, BindError> {
        let Some(settings) = settings else {
            let dtls = datagrams.map(|own| DtlsParts::new(own, None, None)).transpose()?;
            return Ok(Loaded { config: None, trust: Arc::default(), rsa_bits: None, dtls });
        };
        let chain = certificates(&settings.certificate)?;
        let key = private_key(&settings.key)?;
        let rsa_bits = bits_of_private_key(&key);
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(&settings.certificate, error.to_string(), "Please report this."))?;
        let (verifier, trust) = client_verifier(settings, provider)?;
        let asks = verifier.is_some();
        let dtls = |own| DtlsParts::new(own, Some((settings, &chain, &key)), verifier.clone());
        let dtls = datagrams.map(dtls).transpose()?;
        let builder = match verifier {
            None => builder.with_no_client_auth(),
            Some(verifier) => builder.with_client_cert_verifier(verifier),
        };
        let mut config = builder.with_single_cert(chain, key).map_err(|error| unfit(settings, &error))?;
        set_resumption(&mut config, asks);
        Ok(Loaded { config: Some(Arc::new(config)), trust, rsa_bits, dtls })
    }
}

/// Whether a client may take up an earlier connection's secrets instead of a whole handshake; the signature is spared then.
///
/// Not where client certificates are asked for: a resumed handshake shows none, the one from before would count unseen, and
/// so outlive its revocation. A reload makes new keys for tickets: nobody resumes what the old files allowed.
fn set_resumption(config: &mut ServerConfig, asks_for_certificates: bool) {
    config.max_early_data_size = 0;
    if asks_for_certificates {
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        return;
    }
    config.session_storage = ServerSessionMemoryCache::new(SESSIONS_MAX);
    // Tickets keep no session here; their key is changed every six hours, and the one before is good for as long again.
    if let Ok(ticketer) = ring::Ticketer::new() {
        config.ticketer = ticketer;
    }
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

/// What verifies client certificates in handshakes, if any are asked for, and what they are held against later.
///
/// With revocation lists every certificate of a chain must be on the list of its authority or not: one that has no list there
/// is refused, and so is everybody once a list's time is over. What is not known is not trusted.
fn client_verifier(settings: &TlsSettings, provider: Arc<CryptoProvider>) -> Result<Verifying, BindError> {
    let mut trust = Trust::default();
    let (ClientCertificate::Optional | ClientCertificate::Required, Some(file)) =
        (settings.client_certificate, settings.client_ca.as_deref())
    else {
        return Ok((None, Arc::new(trust)));
    };
    let remedy = "Put the certificates of the authorities that sign your clients' into this file, in PEM.";
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        trust.add_root(&certificate);
        roots.add(certificate).map_err(|error| wrong(file, error.to_string(), remedy))?;
    }
    let roots = Arc::new(roots);
    let builder = || WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone());
    let now = since_1970(SystemTime::now());
    let mut lists = Vec::new();
    for file in &settings.crls {
        let found = trust.add_lists(file, now)?;
        // The library says what is wrong with a list, and not with which.
        let remedy = "Write a complete list, of version 2, as your authority publishes it.";
        builder().with_crls(found.clone()).build().map_err(|error| wrong(file, error.to_string(), remedy))?;
        lists.extend(found);
    }
    let mut builder = builder();
    let has_lists = !lists.is_empty();
    if has_lists {
        builder = builder.with_crls(lists).enforce_revocation_expiration();
    }
    if settings.client_certificate == ClientCertificate::Optional {
        builder = builder.allow_unauthenticated();
    }
    let library = builder.build().map_err(|error| wrong(file, error.to_string(), remedy))?;
    let trust = Arc::new(trust);
    let verifier: Arc<dyn ClientCertVerifier> =
        if has_lists { Arc::new(EveryList { library, trust: trust.clone() }) } else { library };
    Ok((Some(verifier), trust))
}

/// A clock before 1970 is that of a machine that does not know the time: nothing has expired there.
fn since_1970(now: SystemTime) -> Duration {
    now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
