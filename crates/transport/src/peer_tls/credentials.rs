//! What a node shows others and holds them against: read from its files, and read again when they were renewed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use lapwing_authority::{Fault, NodeName};
use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, Error, InconsistentKeys, RootCertStore, ServerConfig};

use super::PeerProtocol;
use super::verifiers::{ANY_NODE, OfCluster, OfFingerprint};
use crate::error::BindError;
use crate::tls::{certificates, expires_at, private_key, wrong_file};

/// Where a node's certificate lies: made by the cluster's own authority, or by one of somebody's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerFiles {
    /// The node's certificate and those between it and the authority, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM, not encrypted.
    pub key: PathBuf,
    /// The authority's certificate, in PEM; several while one takes the place of another.
    pub ca: PathBuf,
}

/// What a node shows others and holds them against; for any number of connections.
pub struct PeerTls {
    name: NodeName,
    chain: Vec<CertificateDer<'static>>,
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    joining: Arc<ServerConfig>,
}

impl PeerTls {
    /// Reads the files. New connections use what the newest one of these has; those that are open go on.
    ///
    /// # Errors
    /// `Certificate`: names the file and what is wrong with it: it cannot be used, names no node, does not belong to the others.
    /// That a certificate is over, or not yet valid, is no error here: the clock may be set later.
    pub fn load(files: &PeerFiles) -> Result<Self, BindError> {
        let chain = certificates(&files.certificate)?;
        let key = private_key(&files.key)?;
        let authorities = certificates(&files.ca)?;
        let name = NodeName::of(&chain[0]).map_err(|fault| nameless(&files.certificate, fault))?;
        let provider = Arc::new(ring::default_provider());
        let verifier = verifier(name.cluster(), &authorities, &files.ca, &provider)?;
        check_own(&chain, &verifier, name, files)?;
        let unfit = |error| unfit(files, &error);
        let client =
            client_config(&provider, verifier.clone(), Some((chain.clone(), key.clone_key()))).map_err(unfit)?;
        let server = server_config(&provider, Some(verifier), chain.clone(), key.clone_key()).map_err(unfit)?;
        // Who joins knows a fingerprint only, so the authority's certificate comes along.
        let shown = [chain.clone(), authorities].concat();
        let joining = server_config(&provider, None, shown, key).map_err(unfit)?;
        Ok(PeerTls { name, chain, client: Arc::new(client), server: Arc::new(server), joining: Arc::new(joining) })
    }

    /// Who this node is, by its certificate.
    pub const fn name(&self) -> NodeName {
        self.name
    }

    /// When its certificate ends, or one that it rests on.
    pub fn expires_at(&self) -> Option<SystemTime> {
        expires_at(&self.chain)
    }

    pub(super) fn client(&self) -> Arc<ClientConfig> {
        self.client.clone()
    }

    /// For who has a certificate.
    pub(super) fn server(&self) -> Arc<ServerConfig> {
        self.server.clone()
    }

    /// For who has none.
    pub(super) fn joining(&self) -> Arc<ServerConfig> {
        self.joining.clone()
    }

    /// By which another node of the cluster is asked for, or any.
    pub(super) fn server_name(&self, node: Option<u8>) -> Result<ServerName<'static>, Fault> {
        let Some(node) = node else { return Ok(any_node()) };
        let name = NodeName::new(self.name.cluster(), node)?.server_name();
        Ok(ServerName::try_from(name).expect("letters, digits, '-' and '.'"))
    }
}

impl fmt::Debug for PeerTls {
    /// Who it is, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerTls").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What somebody has who has no certificate yet, and asks the cluster with this authority for one.
pub(super) fn joining_client(authority: [u8; 32]) -> Result<(Arc<ClientConfig>, ServerName<'static>), Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(OfFingerprint { authority, provider: provider.clone() });
    client_config(&provider, verifier, None).map(|config| (Arc::new(config), any_node()))
}

fn any_node() -> ServerName<'static> {
    ServerName::try_from(ANY_NODE).expect("letters and '.'")
}

fn verifier(
    cluster: [u8; 16],
    authorities: &[CertificateDer<'static>],
    file: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<OfCluster>, BindError> {
    let wrong =
        |what: String| wrong_file(file, what, "Write the certificate of the cluster's authority into this file.");
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority.clone()).map_err(|error| wrong(error.to_string()))?;
    }
    let roots = Arc::new(roots);
    let clients = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone()).build();
    let clients = clients.map_err(|error| wrong(error.to_string()))?;
    Ok(Arc::new(OfCluster { cluster, roots, clients, provider: provider.clone() }))
}

/// A client's side: with the certificate and key of a node, or without.
fn client_config(
    provider: &Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
) -> Result<ClientConfig, Error> {
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_protocol_versions(&[&TLS13])?;
    // Not more dangerous than the library's own: what that looks at is looked at, and the name in the certificate beside it.
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let protocol = if identity.is_some() { PeerProtocol::Node } else { PeerProtocol::Join };
    let mut config = match identity {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key)?,
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![protocol.id().to_vec()];
    config.resumption = Resumption::disabled();
    // The name would go in the clear, and nobody needs it.
    config.enable_sni = false;
    Ok(config)
}

/// A server's side: for nodes, which `verifier` looks at, or for who has no certificate.
fn server_config(
    provider: &Arc<CryptoProvider>,
    verifier: Option<Arc<OfCluster>>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, Error> {
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(&[&TLS13])?;
    let protocol = if verifier.is_some() { PeerProtocol::Node } else { PeerProtocol::Join };
    let builder = match verifier {
        Some(verifier) => builder.with_client_cert_verifier(verifier),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(chain, key)?;
    config.alpn_protocols = vec![protocol.id().to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Whether the other nodes will take this certificate, as a client's and as a server's.
fn check_own(
    chain: &[CertificateDer<'static>],
    verifier: &OfCluster,
    name: NodeName,
    files: &PeerFiles,
) -> Result<(), BindError> {
    let own_name = ServerName::try_from(name.server_name()).expect("letters, digits, '-' and '.'");
    let (own, others, now) = (&chain[0], &chain[1..], UnixTime::now());
    let as_server = verifier.verify_server_cert(own, others, &own_name, &[], now).map(|_| ());
    let as_both = as_server.and_then(|()| verifier.verify_client_cert(own, others, now).map(|_| ()));
    let what = match as_both {
        Ok(()) => return Ok(()),
        Err(Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        )) => return Ok(()),
        Err(Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature)) => {
            format!("this certificate is not signed by an authority in {}", files.ca.display())
        }
        Err(error) => error.to_string(),
    };
    let remedy = "Name the authority that signed the node's certificate, and a certificate for clients and servers.";
    Err(wrong_file(&files.certificate, what, remedy))
}

fn nameless(file: &Path, fault: Fault) -> BindError {
    let remedy = "Write the node's own certificate first; it has the URI lapwing://CLUSTER/node/NODE among its names.";
    wrong_file(file, fault.to_string(), remedy)
}

/// Why certificate and key cannot be used together.
fn unfit(files: &PeerFiles, error: &Error) -> BindError {
    match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => wrong_file(
            &files.key,
            format!("this key does not belong to the certificate in {}", files.certificate.display()),
            "Name the key that the certificate was issued for; in the file its own certificate comes first.",
        ),
        error => wrong_file(
            &files.certificate,
            error.to_string(),
            "Use an X.509 certificate with an RSA, ECDSA or Ed25519 key.",
        ),
    }
}
