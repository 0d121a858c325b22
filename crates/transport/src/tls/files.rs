//! Files of certificates and keys, read whole; each that cannot be used is named, and nothing of what is in it.

use std::io;
use std::path::Path;

use lapwing_files::{CERTIFICATE_BYTES_MAX, read_file, without_marks};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::rsa::weak_private_key;
use crate::error::BindError;

/// All certificates in `file`, one at least.
pub(crate) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, BindError> {
    let pem = read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let remedy = "Write the certificates in PEM, between BEGIN CERTIFICATE and END CERTIFICATE.";
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(wrong(file, "there is no certificate in this file".into(), remedy)),
        Err(_) => Err(wrong(file, "this file is not valid PEM".into(), remedy)),
    }
}

/// The first private key in `file`.
pub(crate) fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, BindError> {
    let pem = read(file)?;
    let key = PrivateKeyDer::from_pem_slice(&pem).ok();
    // Whether it is a key at all is asked here, where the file to blame is known.
    let weak = key.as_ref().and_then(weak_private_key);
    key.filter(|key| ring::sign::any_supported_type(key).is_ok()).ok_or_else(|| {
        if let Some(weak) = weak {
            let remedy = "Make an ECDSA P-256 key, or RSA of 2048 bits or more, and a certificate for it.";
            return wrong(file, format!("the key in this file is {weak}"), remedy);
        }
        let remedy = "Write an RSA, ECDSA or Ed25519 key in PEM (PKCS#8, PKCS#1 or SEC1), without a pass phrase.";
        wrong(file, "there is no private key that can be read in this file".into(), remedy)
    })
}

/// The text in `file`, as an editor shows it: without marks of its encoding.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, BindError> {
    let text = read_file(file, CERTIFICATE_BYTES_MAX).map(|bytes| without_marks(&bytes).into_owned());
    text.map_err(|error| {
        let remedy = match error.kind() {
            io::ErrorKind::FileTooLarge => "Name a file of certificates, lists or keys, in PEM.",
            _ => "Name a file that exists and that the broker's user may read: it is read again at a reload.",
        };
        wrong(file, format!("this file cannot be read: {error}"), remedy)
    })
}

pub(crate) fn wrong(file: &Path, what: String, remedy: &'static str) -> BindError {
    BindError::Certificate { file: file.to_owned(), what, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a file that is too long not told as one that nobody may read?
    #[test]
    fn a_long_file_is_no_matter_of_rights() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        let remedy = || match read(&file) {
            Err(BindError::Certificate { what, remedy, .. }) => (what, remedy),
            other => panic!("{other:?}"),
        };
        assert!(remedy().1.contains("that the broker's user may read"));
        std::fs::File::create(&file).unwrap().set_len(CERTIFICATE_BYTES_MAX + 1).unwrap();
        let (what, remedy) = remedy();
        assert_eq!(what, "this file cannot be read: it has more than 4194304 bytes");
        assert_eq!(remedy, "Name a file of certificates, lists or keys, in PEM.");
    }
}
