//! One listener: where it is, what is spoken there below MQTT, whom it takes.

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
/// Datagrams of DTLS: a handshake goes in pieces of them, a message in one record.
const SEALED_BYTES: std::ops::RangeInclusive<u16> = 256..=16_384;

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

    /// Checks what types cannot say; files are looked at when the listener is bound. `index` is its place in the list.
    pub(super) fn check(&self, index: usize) -> Result<(), NodeError> {
        let address: ListenAddress = self.url.parse()?;
        let wrong = |key: &str, what: &str, remedy| {
            Err(NodeError::config(&format!("listeners[{index}].{key}"), format!("{what} ({address})"), remedy))
        };
        if let Some((key, scheme)) = self.misplaced(address.scheme()) {
            return wrong(key, &format!("has no meaning for {scheme}"), "Remove it, or change the url's scheme.");
        }
        let has_neither = self.certificate.is_none() && self.key.is_none() && self.psk.is_some();
        if address.scheme().has_tls() && !has_neither && (self.certificate.is_none() || self.key.is_none()) {
            return wrong("certificate", "and key are needed for TLS", "Name both files, or use tcp or ws.");
        }
        let asks = self.client_certificate != ClientCertificateMode::None;
        if asks && self.client_ca.is_none() {
            return wrong(
                "client_ca",
                "is not set, so no client certificate can be verified",
                "Name the file of roots.",
            );
        }
        if !asks && !self.crl.is_empty() {
            let remedy = "Set client_certificate to \"required\" or \"optional\", or leave crl out.";
            return wrong("crl", "is set, but no client certificate is asked for", remedy);
        }
        if !asks && self.identity != IdentitySource::Password {
            let remedy = "Set client_certificate to \"required\" or \"optional\".";
            return wrong("identity", "is to come from a certificate, but none is asked for", remedy);
        }
        if self.packet_bytes_max == Some(0) {
            return wrong("packet_bytes_max", "is 0", "Leave it out, or set it to 1 or more.");
        }
        if self.path.as_ref().is_some_and(|path| !path.starts_with('/')) {
            return wrong("path", "does not begin with /", "Write it as in \"/mqtt\".");
        }
        if let Some(sn) = &self.sn {
            sn.check(&format!("listeners[{index}]"))?;
        }
        if address.scheme().has_datagrams() && !self.takes_anonymous()? {
            if self.identity == IdentitySource::Password && self.psk.is_none() {
                let remedy = "Set it to true and say by rules what a client id may do, or listen on 127.0.0.1 or [::1], or \
                              listen at sns:// and name users by their certificates (identity) or keys (psk).";
                return wrong("anonymous", "is false, but nobody can name himself in MQTT-SN", remedy);
            }
            if self.sn.as_ref().is_some_and(|sn| sn.publish_without_connect.as_ref().is_some_and(|all| !all.is_empty()))
            {
                let remedy = "Leave it out, or set anonymous = true.";
                return wrong("publish_without_connect", "lets nobody publish, and anonymous is false", remedy);
            }
        }
        if address.scheme() == Scheme::Sns {
            self.check_sealed(index)?;
        }
        self.networks(index)?;
        self.mode(index).map(|_| ())
    }

    /// What DTLS has no way to do.
    fn check_sealed(&self, index: usize) -> Result<(), NodeError> {
        let wrong = |key: &str, what: &str, remedy| {
            Err(NodeError::config(&format!("listeners[{index}].{key}"), what.into(), remedy))
        };
        if self.client_certificate == ClientCertificateMode::Optional {
            let what = "is optional, and DTLS asks for a certificate or does not";
            return wrong("client_certificate", what, "Set it to \"required\" or \"none\".");
        }
        if self.certificate.is_none() && self.client_certificate != ClientCertificateMode::None {
            let what = "asks for certificates, and the listener has none of its own";
            return wrong(
                "client_certificate",
                what,
                "Set certificate and key, or leave it out: who has a key of psk is known.",
            );
        }
        let Some(sn) = &self.sn else { return Ok(()) };
        if !SEALED_BYTES.contains(&sn.datagram_bytes_max) {
            let what = "does not hold a handshake of DTLS, or is more than a record of it";
            return wrong("datagram_bytes_max", what, "Set it to 256 to 16384; 1232 pass every path in one piece.");
        }
        if sn.advertise_to.is_some() {
            return wrong("advertise_to", "has no meaning for sns: nobody could read it", "Remove it.");
        }
        Ok(())
    }

    /// The first key that is set although the scheme has no use for it.
    fn misplaced(&self, scheme: Scheme) -> Option<(&'static str, &'static str)> {
        let tls = !scheme.has_tls();
        let web = !scheme.has_web_socket();
        let unix = scheme == Scheme::Unix;
        let sn = scheme.has_datagrams();
        let keys = [
            ("certificate", tls && self.certificate.is_some()),
            ("key", tls && self.key.is_some()),
            ("client_ca", tls && self.client_ca.is_some()),
            ("crl", tls && !self.crl.is_empty()),
            ("client_certificate", tls && self.client_certificate != ClientCertificateMode::None),
            ("psk", scheme != Scheme::Sns && self.psk.is_some()),
            ("path", web && self.path.is_some()),
            ("origins", web && !self.origins.is_empty()),
            ("hosts", web && !self.hosts.is_empty()),
            ("sn", !sn && self.sn.is_some()),
            ("packet_bytes_max", sn && self.packet_bytes_max.is_some()),
            ("behind_proxy", sn && self.behind_proxy),
            ("proxy_protocol_from", (unix || sn) && !self.proxy_protocol_from.is_empty()),
            ("connects_per_address_per_s", unix && self.connects_per_address_per_s > 0),
            ("mode", !unix && self.mode.is_some()),
        ];
        keys.into_iter().find(|(_, is_misplaced)| *is_misplaced).map(|(key, _)| (key, scheme.name()))
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

    /// Is each kind of listener accepted with what it needs?
    #[test]
    fn every_kind_is_accepted() {
        for json in [
            r#"{"url": "tcp://0.0.0.0:1883", "proxy_protocol_from": ["10.0.0.0/8", "::1"], "connections_max": 5}"#,
            r#"{"url": "tls://h", "certificate": "c", "key": "k", "client_ca": "a", "client_certificate": "required",
                "identity": "certificate-cn"}"#,
            r#"{"url": "wss://h:443/m", "certificate": "c", "key": "k", "origins": ["*"]}"#,
            r#"{"url": "ws://h:80", "path": "/", "packet_bytes_max": 1000}"#,
            r#"{"url": "sn://127.0.0.1:1884", "sn": {"gateway_id": 7}, "connects_per_address_per_s": 9}"#,
            r#"{"url": "sn://0.0.0.0:1884", "anonymous": true}"#,
            r#"{"url": "sns://0.0.0.0:8883", "certificate": "c", "key": "k", "client_ca": "a",
                "client_certificate": "required", "identity": "certificate-cn", "sn": {"retry_ms": 500}}"#,
            r#"{"url": "sns://0.0.0.0:8883", "certificate": "c", "key": "k", "anonymous": true}"#,
            r#"{"url": "sns://0.0.0.0:8883", "psk": "p"}"#,
            r#"{"url": "sns://0.0.0.0:8883", "certificate": "c", "key": "k", "client_ca": "a", "psk": "p",
                "client_certificate": "required", "identity": "certificate-cn"}"#,
            r#"{"url": "unix:///run/x.sock", "mode": "0600", "behind_proxy": true}"#,
        ] {
            listener(json).check(0).unwrap();
        }
    }

    /// Does the transport learn that a proxy lies before a listener, and is none supposed?
    #[test]
    fn a_proxy_before_a_listener_is_handed_on() {
        let is_behind_proxy = |json: &str| listener(json).settings(0, Duration::from_secs(1)).unwrap().is_behind_proxy;
        assert!(is_behind_proxy(r#"{"url": "tcp://127.0.0.1:1", "behind_proxy": true}"#));
        assert!(!is_behind_proxy(r#"{"url": "tcp://127.0.0.1:1"}"#));
    }

    /// Does each kind of mistake name its key?
    #[test]
    fn wrong_listeners_name_their_key() {
        for (json, key) in [
            (r#"{"url": "tls://h"}"#, "listeners[3].certificate"),
            (r#"{"url": "tls://h", "certificate": "c"}"#, "listeners[3].certificate"),
            (r#"{"url": "tcp://h", "certificate": "c", "key": "k"}"#, "certificate"),
            (r#"{"url": "tls://h", "certificate": "c", "key": "k", "client_certificate": "optional"}"#, "client_ca"),
            (r#"{"url": "tls://h", "certificate": "c", "key": "k", "identity": "certificate-san"}"#, "identity"),
            (r#"{"url": "tls://h", "certificate": "c", "key": "k", "crl": ["l"]}"#, "crl"),
            (r#"{"url": "tcp://h", "crl": ["l"]}"#, "crl"),
            (r#"{"url": "tcp://h", "path": "/x"}"#, "path"),
            (r#"{"url": "ws://h", "path": "x"}"#, "path"),
            (r#"{"url": "tcp://h", "origins": ["*"]}"#, "origins"),
            (r#"{"url": "tcp://h", "hosts": ["h"]}"#, "hosts"),
            (r#"{"url": "tcp://h", "mode": "0660"}"#, "mode"),
            (r#"{"url": "unix:///x", "mode": "rw"}"#, "mode"),
            (r#"{"url": "unix:///x", "mode": "1777"}"#, "mode"),
            (r#"{"url": "unix:///x", "proxy_protocol_from": ["::1"]}"#, "proxy_protocol_from"),
            (r#"{"url": "tcp://h", "proxy_protocol_from": ["h/8"]}"#, "proxy_protocol_from"),
            (r#"{"url": "tcp://h", "packet_bytes_max": 0}"#, "packet_bytes_max"),
            (r#"{"url": "tcp://h", "sn": {}}"#, "sn"),
            (r#"{"url": "sn://127.0.0.1", "behind_proxy": true}"#, "behind_proxy"),
            (r#"{"url": "sn://127.0.0.1", "packet_bytes_max": 100}"#, "packet_bytes_max"),
            (r#"{"url": "sn://127.0.0.1", "sn": {"retry_ms": 0}}"#, "listeners[3].retry_ms"),
            (r#"{"url": "sn://0.0.0.0"}"#, "listeners[3].anonymous"),
            (r#"{"url": "sn://127.0.0.1", "anonymous": false}"#, "listeners[3].anonymous"),
            (r#"{"url": "sn://127.0.0.1", "certificate": "c", "key": "k"}"#, "certificate"),
            (r#"{"url": "sns://127.0.0.1"}"#, "listeners[3].certificate"),
            (r#"{"url": "sns://127.0.0.1", "key": "k", "psk": "p"}"#, "listeners[3].certificate"),
            (r#"{"url": "tls://h", "certificate": "c", "key": "k", "psk": "p"}"#, "psk"),
            (
                r#"{"url": "sns://h", "psk": "p", "client_ca": "a", "client_certificate": "required"}"#,
                "listeners[3].client_certificate",
            ),
            (r#"{"url": "sns://0.0.0.0", "certificate": "c", "key": "k"}"#, "listeners[3].anonymous"),
            (
                r#"{"url": "sns://h", "certificate": "c", "key": "k", "client_ca": "a", "anonymous": true,
                "client_certificate": "optional"}"#,
                "listeners[3].client_certificate",
            ),
            (
                r#"{"url": "sns://h", "certificate": "c", "key": "k", "client_ca": "a", "client_certificate": "required",
                "identity": "certificate-cn", "sn": {"publish_without_connect": ["a"]}}"#,
                "publish_without_connect",
            ),
            (
                r#"{"url": "sns://127.0.0.1", "certificate": "c", "key": "k", "sn": {"datagram_bytes_max": 255}}"#,
                "listeners[3].datagram_bytes_max",
            ),
            (
                r#"{"url": "sns://127.0.0.1", "certificate": "c", "key": "k", "sn": {"advertise_to": "1.2.3.4:5"}}"#,
                "listeners[3].advertise_to",
            ),
        ] {
            let error = listener(json).check(3).unwrap_err().to_string();
            assert!(error.contains(key), "{json}: {error}");
        }
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
