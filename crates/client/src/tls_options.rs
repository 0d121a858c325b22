//! Whom a client trusts over TLS, and how it shows itself.

use std::path::PathBuf;

/// Files in PEM; they are read at every connection, so that renewed ones count.
#[derive(Clone, Debug, Default)]
pub struct TlsOptions {
    /// Authorities to trust instead of those that this machine trusts.
    pub ca: Option<PathBuf>,
    /// The client's own certificate with its chain, where the broker asks for one.
    pub certificate: Option<PathBuf>,
    /// Its key; by default in the certificate's file.
    pub key: Option<PathBuf>,
}
