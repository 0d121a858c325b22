//! The client's side of TLS: whom it trusts, how it shows itself, and what is wrong when it fails.
//!
//! The name in the address is checked against the broker's certificate, always: there is no switch to turn it off.

use super::bounded::Bounded;
use super::carrier::TlsStream;
use super::is_timeout;
use crate::address::Address;
use crate::error::ClientError;
use crate::tls_options::TlsOptions;
use lapwing_files::{CERTIFICATE_BYTES_MAX, read_file, without_marks};
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Everything TLS needs to know before it begins.
///
/// # Errors
/// `Invalid`: a file that cannot be read or has nothing of use in it.
pub(crate) fn client_config(options: &TlsOptions) -> Result<Arc<ClientConfig>, ClientError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ClientError::Tls(error.to_string()))?
        .with_root_certificates(trusted(options.ca.as_deref())?);
    let config = match (&options.certificate, &options.key) {
        (None, None) => builder.with_no_client_auth(),
        (Some(certificate), key) => {
            // Chain and key may lie in one file.
            let key = private_key(key.as_ref().unwrap_or(certificate))?;
            builder
                .with_client_auth_cert(certificates(certificate)?, key)
                .map_err(|error| unusable(certificate, &error))?
        }
        (None, Some(key)) => {
            return Err(ClientError::Invalid(format!("key {} without a certificate: give both", key.display())));
        }
    };
    Ok(Arc::new(config))
}

/// Shakes hands over `tcp`, in its turn.
///
/// # Errors
/// `Tls`: the broker's certificate is not trusted or is not this host's, or it does not speak TLS; `TimedOut`.
pub(crate) fn shake_hands(
    mut tcp: Bounded,
    config: Arc<ClientConfig>,
    address: &Address,
    deadline: Instant,
) -> Result<TlsStream, ClientError> {
    let begun = Instant::now();
    let name = ServerName::try_from(address.host.clone())
        .map_err(|_| ClientError::Invalid(format!("{:?} can stand in no certificate", address.host)))?;
    let mut connection = ClientConnection::new(config, name).map_err(|error| ClientError::Tls(error.to_string()))?;
    while connection.is_handshaking() {
        match connection.complete_io(&mut tcp) {
            Ok(_) => {}
            Err(error) if is_timeout(&error) && Instant::now() < deadline => {}
            Err(error) if is_timeout(&error) => {
                let after_s = deadline.saturating_duration_since(begun).as_secs_f64();
                return Err(ClientError::TimedOut { what: "the TLS handshake", after_s });
            }
            Err(error) => return Err(unshaken(error)),
        }
    }
    Ok(StreamOwned::new(connection, tcp))
}

/// The error for a handshake that broke. Who does not speak TLS answers something else, or goes without a word; so does a
/// broker that ends, so that is worth a retry.
fn unshaken(error: io::Error) -> ClientError {
    let reason = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match (reason, error.kind()) {
        (Some(rustls::Error::InvalidMessage(reason)), _) => ClientError::Tls(format!(
            "what answers is no TLS ({reason:?}): use tcp:// (ws:// for pages), or the port that has it"
        )),
        (None, io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
            let what =
                "the handshake of TLS was ended without a word: perhaps none is spoken at this port (tcp://, ws://)";
            ClientError::Lost(io::Error::new(error.kind(), what))
        }
        _ => lost(error),
    }
}

/// The error for a connection that broke: TLS says why, where it was TLS.
pub(crate) fn lost(error: io::Error) -> ClientError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(reason) => ClientError::Tls(reason.to_string()),
        None => ClientError::Lost(error),
    }
}

/// The certificates of `ca`, or those that this machine trusts.
fn trusted(ca: Option<&Path>) -> Result<RootCertStore, ClientError> {
    let found = match ca {
        Some(path) => certificates(path)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found);
    match (added, ca) {
        (1.., _) => Ok(roots),
        (_, Some(path)) => Err(unusable(path, &"no certificate of an authority is in it")),
        (_, None) => Err(ClientError::Invalid("this machine trusts no certificates: give those to trust".to_owned())),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ClientError> {
    match CertificateDer::pem_slice_iter(&read(path)?).collect::<Result<Vec<_>, _>>() {
        Ok(found) if found.is_empty() => Err(unusable(path, &"no certificate is in it")),
        Ok(found) => Ok(found),
        Err(error) => Err(unusable(path, &error)),
    }
}

/// The first private key in `path`. Whether it is a key at all is asked here, where the file to blame is known.
fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, ClientError> {
    let key = PrivateKeyDer::from_pem_slice(&read(path)?).ok();
    key.filter(|key| any_supported_type(key).is_ok()).ok_or_else(|| {
        let why = "there is no private key that can be read in this file; \
                   give one of RSA, ECDSA or Ed25519 in PEM (PKCS#8, PKCS#1 or SEC1), without a pass phrase";
        unusable(path, &why)
    })
}

fn read(path: &Path) -> Result<Vec<u8>, ClientError> {
    let bytes = read_file(path, CERTIFICATE_BYTES_MAX).map_err(|error| unusable(path, &error))?;
    Ok(without_marks(&bytes).into_owned())
}

fn unusable(path: &Path, why: &impl std::fmt::Display) -> ClientError {
    let shown = if path.as_os_str().is_empty() { "a file without a name".into() } else { path.to_string_lossy() };
    ClientError::Invalid(format!("{shown} cannot be used for TLS: {why}"))
}
