//! Addresses: of listeners, of HTTP, of a socket, and URLs that others are asked at.

use std::net::SocketAddr;

use super::host_port::{FORM, join_host_port, split_host_port};

const LISTEN: &str = "a URL of the form \"tcp://HOST:PORT\", as in \"tcp://127.0.0.1:1883\", with tcp, tls, ws, wss, sn, sns or \
                      unix";
/// Each name that a scheme may be given, and the one that it has.
const SCHEMES: [(&str, &str); 11] = [
    ("tcp", "tcp"),
    ("mqtt", "tcp"),
    ("tls", "tls"),
    ("mqtts", "tls"),
    ("ssl", "tls"),
    ("ws", "ws"),
    ("wss", "wss"),
    ("sn", "sn"),
    ("mqtt-sn", "sn"),
    ("sns", "sns"),
    ("mqtt-sns", "sns"),
];

/// A listener's URL, with one name for each scheme.
///
/// # Errors
/// Another scheme or none, no port, a path where none belongs: what it must be.
pub(super) fn listen_url(text: &str) -> Result<String, &'static str> {
    let (scheme, rest) = text.split_once("://").ok_or(LISTEN)?;
    if scheme == "unix" {
        let is_path = rest.starts_with('/') && !rest.ends_with('/') && !rest.contains('\0');
        return is_path
            .then(|| text.to_owned())
            .ok_or("a URL with the whole path of the socket, as in \"unix:///run/lapwing.sock\"");
    }
    let (_, scheme) = SCHEMES.iter().find(|(name, _)| *name == scheme).ok_or(LISTEN)?;
    if rest.contains('#') {
        return Err(LISTEN);
    }
    let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
    if !path.is_empty() && !matches!(*scheme, "ws" | "wss") {
        return Err("a URL without a path: only ws and wss have one");
    }
    let (host, port) = split_host_port(address).ok_or(FORM)?;
    let slash = if path.is_empty() { "" } else { "/" };
    Ok(format!("{scheme}://{}{slash}{path}", join_host_port(&host, port)))
}

/// `HOST:PORT`, which may be written as a URL.
///
/// # Errors
/// It is none.
pub(super) fn http_address(text: &str) -> Result<String, &'static str> {
    let bare = text.strip_prefix("http://").unwrap_or(text);
    let bare = bare.strip_prefix("https://").unwrap_or(bare).trim_end_matches('/');
    split_host_port(bare).map(|(host, port)| join_host_port(&host, port)).ok_or(FORM)
}

/// An IP address with a port; names are not resolved.
///
/// # Errors
/// It is none.
pub(super) fn socket_address(text: &str) -> Result<String, &'static str> {
    let found = split_host_port(text).map(|(host, port)| join_host_port(&host, port));
    found
        .filter(|address| address.parse::<SocketAddr>().is_ok())
        .ok_or("an IP address with a port, as in \"239.1.1.1:1884\"")
}
