//! The authority itself: a certificate, and the key that signs those of nodes.

use std::fmt;
use std::time::SystemTime;

use data_encoding::HEXLOWER;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, SerialNumber, string::Ia5String,
};
use ring::rand::{SecureRandom, SystemRandom};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};

use crate::fault::Fault;
use crate::name::{NodeName, cluster_of, cluster_uri};
use crate::node_key;
use crate::request::PublicKey;
use crate::validity::{AUTHORITY_DAYS, NODE_DAYS, Validity};

/// Of one cluster. Whoever has its key is every node of the cluster; `Debug` shows nothing of it.
pub struct Authority {
    cluster: [u8; 16],
    certificate: CertificateDer<'static>,
    pem: String,
    issuer: Issuer<'static, KeyPair>,
    not_after_s: u64,
}

impl Authority {
    /// Makes that of a new cluster, good from an hour before `now` for [`AUTHORITY_DAYS`].
    ///
    /// # Errors
    /// `Clock`: `now` cannot be. `NotMade`: the system gives no random numbers.
    pub fn found(cluster: [u8; 16], now: SystemTime) -> Result<Self, Fault> {
        let validity = Validity::of_days(AUTHORITY_DAYS, now)?;
        let key = node_key::generate()?;
        let mut params = params_of(cluster)?;
        params.serial_number = Some(serial_number()?);
        validity.set(&mut params);
        let certificate = params.self_signed(&key).map_err(|_| Fault::NotMade)?;
        Ok(Authority {
            cluster,
            certificate: certificate.der().clone(),
            pem: certificate.pem(),
            issuer: Issuer::new(params, key),
            not_after_s: validity.not_after_s,
        })
    }

    /// Reads one from what [`Authority::certificate_pem`] and [`Authority::key_pem`] have written.
    ///
    /// # Errors
    /// `NoAuthority`, `NoKey`: the first text is not the one, the second not the other. `OtherKey`: they are of two authorities.
    pub fn load(certificate_pem: &str, key_pem: &str) -> Result<Self, Fault> {
        let der = CertificateDer::from_pem_slice(certificate_pem.as_bytes()).map_err(|_| Fault::NoAuthority)?;
        let certificate = Certificate::from_der(&der).map_err(|_| Fault::NoAuthority)?;
        let cluster = cluster_of(&certificate).ok_or(Fault::NoAuthority)?;
        let key = node_key::read(key_pem)?;
        let certified = &certificate.tbs_certificate;
        if certified.subject_public_key_info.subject_public_key.as_bytes() != Some(key.public_key_raw()) {
            return Err(Fault::OtherKey);
        }
        let not_after_s = certified.validity.not_after.to_unix_duration().as_secs();
        let subject = certified.subject.to_der().map_err(|_| Fault::NoAuthority)?;
        let issuer = Issuer::new(params_of(cluster)?, key);
        let authority = Authority { cluster, certificate: der, pem: certificate_pem.into(), issuer, not_after_s };
        // Under another name than it has itself nobody would find it from what it signs.
        if authority.signs_as()? == subject { Ok(authority) } else { Err(Fault::NoAuthority) }
    }

    /// The certificate of `node` for the key that a request (PEM, see [`NodeKey::request`](crate::NodeKey::request)) shows, in
    /// PEM: good from an hour before `now` for [`NODE_DAYS`], and no longer than the authority. For clients and for servers.
    ///
    /// # Errors
    /// `NoSuchNode`, `NoRequest`: what is asked for. `Clock`, `AuthorityOver`, `NotMade`: nothing can be made here now.
    pub fn issue(&self, node: u8, request_pem: &str, now: SystemTime) -> Result<String, Fault> {
        let name = NodeName::new(self.cluster, node)?;
        let key = PublicKey::of_request(request_pem)?;
        let validity = Validity::of_days(NODE_DAYS, now)?.within(self.not_after_s)?;
        let mut params = CertificateParams::default();
        params.distinguished_name = common_name(&name.server_name());
        params.subject_alt_names = vec![SanType::URI(ia5(&name.uri())?), SanType::DnsName(ia5(&name.server_name())?)];
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        params.serial_number = Some(serial_number()?);
        validity.set(&mut params);
        Ok(params.signed_by(&key, &self.issuer).map_err(|_| Fault::NotMade)?.pem())
    }

    /// The cluster whose it is.
    pub const fn cluster(&self) -> [u8; 16] {
        self.cluster
    }

    /// For everybody.
    pub fn certificate_pem(&self) -> &str {
        &self.pem
    }

    /// For its file, which nobody else may read.
    pub fn key_pem(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// By which a token names it.
    pub fn fingerprint(&self) -> [u8; 32] {
        fingerprint(&self.certificate)
    }

    /// The issuer in what it signs, in DER.
    fn signs_as(&self) -> Result<Vec<u8>, Fault> {
        let params = CertificateParams::default();
        let signed = params.signed_by(self.issuer.key(), &self.issuer).map_err(|_| Fault::NotMade)?;
        let signed = Certificate::from_der(signed.der()).map_err(|_| Fault::NotMade)?;
        signed.tbs_certificate.issuer.to_der().map_err(|_| Fault::NotMade)
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cluster = HEXLOWER.encode(&self.cluster);
        f.debug_struct("Authority").field("cluster", &cluster).finish_non_exhaustive()
    }
}

/// SHA-256 of a certificate in DER.
pub fn fingerprint(certificate: &[u8]) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// What the authority of a cluster is made of, but for its key, number and times. It must not change: certificates that were
/// issued before name it by its name.
fn params_of(cluster: [u8; 16]) -> Result<CertificateParams, Fault> {
    let mut params = CertificateParams::default();
    params.distinguished_name = common_name(&format!("Lapwing cluster {}", HEXLOWER.encode(&cluster)));
    params.subject_alt_names = vec![SanType::URI(ia5(&cluster_uri(cluster))?)];
    // It signs nodes, and no other authority.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn common_name(name: &str) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}

fn ia5(text: &str) -> Result<Ia5String, Fault> {
    Ia5String::try_from(text).map_err(|_| Fault::NotMade)
}

/// Of the certificates of one authority no two have the same, even where one key gets two. Sixteen bytes, positive.
fn serial_number() -> Result<SerialNumber, Fault> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Fault::NotMade)?;
    bytes[0] = bytes[0] & 0x3f | 0x40;
    Ok(SerialNumber::from_slice(&bytes))
}
