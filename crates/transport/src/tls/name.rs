//! Who a client certificate names. It was verified by the handshake; here it is only read.

use rustls::pki_types::CertificateDer;
use x509_cert::der::asn1::{PrintableStringRef, Utf8StringRef};
use x509_cert::der::oid::db::rfc4519::COMMON_NAME;
use x509_cert::der::{Any, Decode};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::{Certificate, TbsCertificate};

/// Which name of a certificate is the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateName {
    /// The common name (CN) of the subject.
    Common,
    /// The subject's alternative name (SAN): a DNS name, an e-mail address or a URI.
    Alternative,
}

/// Longest name taken for a user's.
const NAME_BYTES_MAX: usize = 256;

/// The name; `None` when there is none of that kind, or more than one: which one counts must not be a guess.
pub(super) fn in_certificate(certificate: &CertificateDer<'_>, which: CertificateName) -> Option<String> {
    let certificate = Certificate::from_der(certificate.as_ref()).ok()?;
    let names = match which {
        CertificateName::Common => common_names(&certificate.tbs_certificate),
        CertificateName::Alternative => alternative_names(&certificate.tbs_certificate),
    };
    match <[String; 1]>::try_from(names) {
        Ok([name]) if is_name(&name) => Some(name),
        _ => None,
    }
}

fn common_names(certificate: &TbsCertificate) -> Vec<String> {
    let attributes = certificate.subject.0.iter().flat_map(|relative| relative.0.iter());
    attributes.filter(|attribute| attribute.oid == COMMON_NAME).map(|attribute| text(&attribute.value)).collect()
}

/// The text of an attribute; empty, and so no name, when it is of a kind that is not used any more.
fn text(value: &Any) -> String {
    let utf8 = value.decode_as::<Utf8StringRef<'_>>().map(|text| text.as_str().to_owned());
    let text = utf8.or_else(|_| value.decode_as::<PrintableStringRef<'_>>().map(|text| text.as_str().to_owned()));
    text.unwrap_or_default()
}

fn alternative_names(certificate: &TbsCertificate) -> Vec<String> {
    let Ok(Some((_, SubjectAltName(names)))) = certificate.get::<SubjectAltName>() else { return Vec::new() };
    let name = |name: GeneralName| match name {
        GeneralName::DnsName(name) | GeneralName::Rfc822Name(name) => Some(name.to_string()),
        GeneralName::UniformResourceIdentifier(name) => Some(name.to_string()),
        _ => None,
    };
    names.into_iter().filter_map(name).collect()
}

/// Names stand in logs and in rules: neither control characters nor endless ones.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control)
}
