//! One listener: where it is, what is spoken there below MQTT, whom it takes.

mod check;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lapwing_transport::{
    BindError, Certificates, ClientCertificate, DtlsSettings, ListenAddress, ListenerSettings, Network, Scheme,
    TlsSettings, WebSettings,
};
use serde::{Deserialize, Serialize};

use super::{ClientCertificateMode, Durability, IdentitySource, SnConfig};
use crate::error::NodeError;

/// A listener as configured. `Broker.listen` names listeners that have nothing but an address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ListenerConfig {
    /// `tcp://`, `tls://`, `ws://`, `wss://`, `sn://`, `sns://` with HOST:PORT, or `unix:///PATH`; port 0 takes any free one.
    pub url: String,
    /// TLS and DTLS: the certificate and those between it and the root, which DTLS has no way to send, a PEM file; DTLS can be
    /// without where it has `psk`.
    pub certificate: Option<PathBuf>,
    /// TLS: the private key, a PEM file.
    pub key: Option<PathBuf>,
    /// TLS: the roots of client certificates, a PEM file.
    pub client_ca: Option<PathBuf>,
    /// TLS: revocation lists of those authorities, PEM files.
    pub crl: Vec<PathBuf>,
    /// TLS: whether clients show certificates.
    pub client_certificate: ClientCertificateMode,
    /// DTLS: pre-shared keys, a file of lines `IDENTITY:KEY`; who has one is the user of that name.
    pub psk: Option<PathBuf>,
    /// Who a client is.
    pub identity: IdentitySource,
    /// WebSocket: the path of the upgrade; none: that in `url`, else `/mqtt`.
    pub path: Option<String>,
    /// WebSocket: origins taken beside the same host's; `*` takes all.
    pub origins: Vec<String>,
    /// WebSocket: names in `Host`, beside that in `url`, under which pages of the same host may connect; `*` takes all.
    pub hosts: Vec<String>,
    /// Networks of proxies that must begin with a PROXY header.
    pub proxy_protocol_from: Vec<String>,
    /// All clients come through a proxy that does not say so: what the kernel measures is not the way to them.
    pub behind_proxy: bool,
    /// Whether clients may come without naming themselves; none: where only this machine can connect.
    pub anonymous: Option<bool>,
    /// Connections of this listener; 0: only `limits.connections_max` counts, of MQTT-SN half of it.
    pub connections_max: u32,
    /// Connections that one source address may open each second; 0: any number.
    pub connects_per_address_per_s: u32,
    /// Largest packet that a client of this listener may send; none: `limits.packet_bytes_max`.
    pub packet_bytes_max: Option<u32>,
    /// Where sessions that begin here are kept; none: as the node's `durability` says.
    pub durability: Option<Durability>,
    /// Permission bits of a Unix socket, in octal: `"0660"`.
    pub mode: Option<String>,
    /// MQTT-SN: what it has beyond the others; none: the defaults.
    pub sn: Option<SnConfig>,
}

impl Default for ListenerConfig {
    fn default() -> Self {
        ListenerConfig {
            url: String::new(),
            certificate: None,
            key: None,
            client_ca: None,
            crl: Vec::new(),
            client_certificate: ClientCertificateMode::None,
            psk: None,
            identity: IdentitySource::Password,
            path: None,
            origins: Vec::new(),
            hosts: Vec::new(),
            proxy_protocol_from: Vec::new(),
            behind_proxy: false,
            anonymous: None,
            connections_max: 0,
            connects_per_address_per_s: 0,
            packet_bytes_max: None,
            durability: None,
            mode: None,
            sn: None,
        }
    }
}

/// The path of MQTT over WebSocket where none is set.
const WEB_PATH: &str = "/mqtt";
impl ListenerConfig {
    /// A listener with default settings.
    pub fn at(url: &str) -> Self {
        ListenerConfig { url: url.to_owned(), ..ListenerConfig::default() }
    }

    /// Whether clients may come without naming themselves.
    ///
    /// # Errors
    /// The address cannot be read.
    pub fn takes_anonymous(&self) -> Result<bool, NodeError> {
        let address: ListenAddress = self.url.parse()?;
        Ok(self.anonymous.unwrap_or_else(|| address.is_local()))
    }

    /// Connections that there may be, of `most` in all; 0: only those count. Whoever makes up addresses gets no more places of
    /// a listener of datagrams than leave half of them to clients that cannot.
    pub(crate) fn places(&self, most: u32) -> u32 {
        let has_datagrams = self.url.parse::<ListenAddress>().is_ok_and(|address| address.scheme().has_datagrams());
        if self.connections_max == 0 && has_datagrams { most.div_ceil(2) } else { self.connections_max }
    }

    /// Whether a client of MQTT-SN may publish anything without a connection, where nothing is said of it: if no other machine
    /// can.
    pub(crate) fn takes_everything(&self) -> bool {
        self.url.parse::<ListenAddress>().is_ok_and(|address| address.is_local() && self.anonymous != Some(false))
    }

    /// Whether it is DTLS that brings its datagrams.
    pub(crate) fn is_sealed(&self) -> bool {
        self.url.parse::<ListenAddress>().is_ok_and(|address| address.scheme() == Scheme::Sns)
    }

    fn networks(&self, index: usize) -> Result<Vec<Network>, NodeError> {
        let parse = |text: &String| {
            text.parse().map_err(|what| {
                let key = format!("listeners[{index}].proxy_protocol_from");
                NodeError::config(&key, format!("\"{text}\": {what}"), "Write networks as in \"10.0.0.0/8\".")
            })
        };
        self.proxy_protocol_from.iter().map(parse).collect()
    }

    fn mode(&self, index: usize) -> Result<u32, NodeError> {
        let Some(text) = &self.mode else { return Ok(ListenerSettings::MODE) };
        let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777 && text.len() >= 3);
        mode.ok_or_else(|| {
            let key = format!("listeners[{index}].mode");
            NodeError::config(&key, format!("\"{text}\" is no mode"), "Write it in octal, as in \"0660\".")
        })
    }

    /// What the transport binds; reads the certificates. `patience`: how long a handshake of datagrams may take.
    ///
    /// # Errors
    /// `Config`, `Bind`: names the key or the file.
    pub(crate) fn settings(&self, index: usize, patience: Duration) -> Result<ListenerSettings, NodeError> {
        let address: ListenAddress = self.url.parse()?;
        let is_open = self.takes_anonymous()?;
        let web = address.scheme().has_web_socket().then(|| WebSettings {
            path: self.path.as_deref().or(address.web_path()).unwrap_or(WEB_PATH).to_owned(),
            origins: self.origins.clone(),
            hosts: self.hosts.clone(),
            is_open,
        });
        Ok(ListenerSettings {
            certificates: self.certificates(patience)?,
            web,
            proxy_from: self.networks(index)?,
            is_behind_proxy: self.behind_proxy,
            connects_per_address_per_s: self.connects_per_address_per_s,
            mode: self.mode(index)?,
            keep_alive: None,
            address,
        })
    }

    fn certificates(&self, patience: Duration) -> Result<Option<Arc<Certificates>>, BindError> {
        let settings = self.tls();
        let loaded = if self.is_sealed() {
            let datagram_bytes_max = self.sn.clone().unwrap_or_default().datagram_bytes_max;
            let own = DtlsSettings { datagram_bytes_max, handshake_timeout: patience, keys: self.psk.clone() };
            Certificates::load_for_datagrams(settings, own)
        } else {
            let Some(settings) = settings else { return Ok(None) };
            Certificates::load(settings)
        };
        loaded.map(|loaded| Some(Arc::new(loaded)))
    }

    /// What TLS and DTLS have in common, where there is a certificate.
    fn tls(&self) -> Option<TlsSettings> {
        let (Some(certificate), Some(key)) = (&self.certificate, &self.key) else { return None };
        Some(TlsSettings {
            certificate: certificate.clone(),
            key: key.clone(),
            client_ca: self.client_ca.clone(),
            crls: self.crl.clone(),
            client_certificate: match self.client_certificate {
                ClientCertificateMode::None => ClientCertificate::None,
                ClientCertificateMode::Optional => ClientCertificate::Optional,
                ClientCertificateMode::Required => ClientCertificate::Required,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(json: &str) -> ListenerConfig {
        serde_json::from_str(json).unwrap()
    }

    /// Does the transport learn that a proxy lies before a listener, and is none supposed?
    #[test]
    fn a_proxy_before_a_listener_is_handed_on() {
        let is_behind_proxy = |json: &str| listener(json).settings(0, Duration::from_secs(1)).unwrap().is_behind_proxy;
        assert!(is_behind_proxy(r#"{"url": "tcp://127.0.0.1:1", "behind_proxy": true}"#));
        assert!(!is_behind_proxy(r#"{"url": "tcp://127.0.0.1:1"}"#));
    }

    /// Is half left to others wherever datagrams come, by whatever name, and only where nothing else is said?
    #[test]
    fn datagrams_leave_half_of_the_places() {
        let places = |json: &str| listener(json).places(101);
        assert_eq!(places(r#"{"url": "sn://127.0.0.1"}"#), 51);
        assert_eq!(places(r#"{"url": "mqtt-sn://127.0.0.1"}"#), 51);
        assert_eq!(places(r#"{"url": "mqtt-sn://127.0.0.1", "connections_max": 7}"#), 7);
        assert_eq!(places(r#"{"url": "tcp://127.0.0.1"}"#), 0);
    }

    /// Who may come without a name, where nothing is said about it?
    #[test]
    fn only_this_machine_is_anonymous_by_default() {
        let anonymous = |json: &str| listener(json).takes_anonymous().unwrap();
        assert!(anonymous(r#"{"url": "tcp://127.0.0.1"}"#));
        assert!(anonymous(r#"{"url": "unix:///x"}"#));
        assert!(!anonymous(r#"{"url": "tcp://0.0.0.0"}"#));
        assert!(anonymous(r#"{"url": "tcp://0.0.0.0", "anonymous": true}"#));
        assert!(!anonymous(r#"{"url": "unix:///x", "anonymous": false}"#));
    }
}
