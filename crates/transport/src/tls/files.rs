//! Files of certificates and keys, read whole; each that cannot be used is named, and nothing of what is in it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::BindError;

/// More than any chain or list of roots in use, and a hundred thousand revoked certificates.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// All certificates in `file`, one at least.
pub(super) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, BindError> {
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
pub(super) fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, BindError> {
    let pem = read(file)?;
    let key = PrivateKeyDer::from_pem_slice(&pem).ok();
    // Whether it is a key at all is asked here, where the file to blame is known.
    let bits = key.as_ref().and_then(weak_rsa_bits);
    key.filter(|key| ring::sign::any_supported_type(key).is_ok()).ok_or_else(|| {
        if let Some(bits) = bits {
            let what =
                format!("the key in this file is RSA of {bits} bits, and fewer than {RSA_BITS_MIN} hold nobody off");
            return wrong(
                file,
                what,
                "Make an ECDSA P-256 key, or RSA of 2048 bits or more, and a certificate for it.",
            );
        }
        let remedy = "Write an RSA, ECDSA or Ed25519 key in PEM (PKCS#8, PKCS#1 or SEC1), without a pass phrase.";
        wrong(file, "there is no private key that can be read in this file".into(), remedy)
    })
}

/// Bits of an RSA key that are taken.
const RSA_BITS_MIN: usize = 2048;

/// The bits of an RSA key that has too few, which nothing else reads.
fn weak_rsa_bits(key: &PrivateKeyDer<'_>) -> Option<usize> {
    let modulus = match key {
        PrivateKeyDer::Pkcs1(der) => rsa_modulus(der.secret_pkcs1_der())?,
        PrivateKeyDer::Pkcs8(der) => {
            // PrivateKeyInfo: version, algorithm, and the key of PKCS#1 in an octet string.
            let (_, fields) = der_value(der.secret_pkcs8_der(), 0x30)?;
            let (rest, _) = der_value(fields, 0x02)?;
            let (rest, algorithm) = der_value(rest, 0x30)?;
            let is_rsa = algorithm.starts_with(&[0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]);
            rsa_modulus(der_value(rest, 0x04).filter(|_| is_rsa)?.1)?
        }
        _ => return None,
    };
    let leading = modulus.iter().take_while(|byte| **byte == 0).count();
    let bits = 8 * (modulus.len() - leading) - modulus.get(leading)?.leading_zeros() as usize;
    (bits < RSA_BITS_MIN).then_some(bits)
}

/// The modulus of a key of PKCS#1, which stands behind its version.
fn rsa_modulus(der: &[u8]) -> Option<&[u8]> {
    let (_, fields) = der_value(der, 0x30)?;
    let (rest, _) = der_value(fields, 0x02)?;
    Some(der_value(rest, 0x02)?.1)
}

/// What stands behind the first value of `der`, and that value, if it has this tag.
fn der_value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first().filter(|_| found == tag)?;
    let (len, rest) = match usize::from(first) {
        short @ 0..0x80 => (short, rest),
        long => {
            let (digits, rest) = rest.split_at_checked(long - 0x80).filter(|(digits, _)| digits.len() <= 4)?;
            (digits.iter().fold(0, |len, digit| len << 8 | usize::from(*digit)), rest)
        }
    };
    rest.split_at_checked(len).map(|(value, rest)| (rest, value))
}

/// The bits of an RSA key; `None` for a key of another kind.
pub(super) fn rsa_bits(key: &PrivateKeyDer<'_>) -> Option<u32> {
    let key = match key {
        PrivateKeyDer::Pkcs1(der) => ::ring::rsa::KeyPair::from_der(der.secret_pkcs1_der()),
        PrivateKeyDer::Pkcs8(der) => ::ring::rsa::KeyPair::from_pkcs8(der.secret_pkcs8_der()),
        _ => return None,
    };
    key.ok().map(|key| 8 * key.public().modulus_len() as u32)
}

/// The bytes of `file`.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, BindError> {
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|opened| opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    let remedy = "Name a file that exists and that the broker's user may read.";
    opened.map_err(|error| wrong(file, format!("this file cannot be read: {error}"), remedy))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(wrong(file, format!("this file has more than {FILE_BYTES_MAX} bytes"), remedy));
    }
    Ok(bytes)
}

pub(crate) fn wrong(file: &Path, what: String, remedy: &'static str) -> BindError {
    BindError::Certificate { file: file.to_owned(), what, remedy }
}
