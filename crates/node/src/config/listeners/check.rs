//! What a listener may be: its keys by themselves, with each other, and with what its scheme has a use for.

use lapwing_transport::{ListenAddress, Scheme};

use super::{ClientCertificateMode, IdentitySource, ListenerConfig};
use crate::config::limits::PACKET_BYTES_HIGHEST;
use crate::error::NodeError;

/// Datagrams of DTLS: a handshake goes in pieces of them, a message in one record.
const SEALED_BYTES: std::ops::RangeInclusive<u16> = 256..=16_384;

impl ListenerConfig {
    /// Checks what types cannot say; files are looked at when the listener is bound. `index` is its place in the list.
    pub(in crate::config) fn check(&self, index: usize) -> Result<(), NodeError> {
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
        if !asks && self.client_ca.is_some() {
            let remedy = "Set client_certificate to \"required\" or \"optional\", or leave client_ca out.";
            return wrong("client_ca", "is set, but no client certificate is asked for", remedy);
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
        if let Some(bytes) = self.packet_bytes_max.filter(|bytes| *bytes > PACKET_BYTES_HIGHEST) {
            let what = format!("{bytes} is more than {PACKET_BYTES_HIGHEST}");
            return wrong("packet_bytes_max", &what, "Set it to 255 MiB or less.");
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

    /// Does each kind of mistake name its key?
    #[test]
    fn wrong_listeners_name_their_key() {
        for (json, key) in [
            (r#"{"url": "tls://h"}"#, "listeners[3].certificate"),
            (r#"{"url": "tls://h", "certificate": "c"}"#, "listeners[3].certificate"),
            (r#"{"url": "tcp://h", "certificate": "c", "key": "k"}"#, "certificate"),
            (r#"{"url": "tls://h", "certificate": "c", "key": "k", "client_certificate": "optional"}"#, "client_ca"),
            (r#"{"url": "tls://h", "certificate": "c", "key": "k", "identity": "certificate-san"}"#, "identity"),
            (r#"{"url": "tls://h", "certificate": "c", "key": "k", "client_ca": "a"}"#, "listeners[3].client_ca"),
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
            (r#"{"url": "tcp://h", "packet_bytes_max": 267386881}"#, "packet_bytes_max"),
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
}
