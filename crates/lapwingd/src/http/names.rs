//! What the listener is called, and who asks in somebody else's name: what a web page can do, decided from the head.
//!
//! A page that bends its own name to this machine says that name in `Host`, so `Host` must be a name of ours. A page that does not
//! hide is named by its browser, in `Origin` and `Sec-Fetch-Site`; programs send neither. As `lapwing.same_origin` decides it.

use std::net::IpAddr;

use super::error::HttpError;
use super::request::Request;
use super::text::quoted;

const SHOWN_CHARACTERS_MAX: usize = 64;
/// `Sec-Fetch-Site` of a page of our own, and of a person at a browser's address line.
const OWN_SITES: [&str; 2] = ["same-origin", "none"];

/// The names of one listener on loopback.
#[derive(Clone, Debug)]
pub(super) struct HostNames {
    /// The host of its address as it is configured, in lower case.
    pub configured: String,
    /// Set beside it, in lower case; `*` takes every one.
    pub further: Vec<String>,
}

/// Whose request it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A program's, a page's of our own, a person's.
    Ours,
    /// A link or an image of another site's page: it is answered, and must change nothing.
    Link,
}

impl HostNames {
    /// # Errors
    /// 421: the listener is not called so; 403: a page of another site asks.
    pub(super) fn judge(&self, request: &Request) -> Result<Origin, HttpError> {
        let hosts = &request.hosts;
        // HTTP/1.0 may do without; no browser does.
        if hosts.len() > 1 || !hosts.iter().all(|host| self.includes(host)) {
            let message = format!("this is not called {} (Host)", shown(&hosts.join(", ")));
            let remedy = "use the address the broker listens at, or add the name to http.hosts, as in http.hosts = \
                          [\"broker.example\"]";
            return Err(HttpError::new(421, "misdirected", message, remedy));
        }
        if !is_foreign(&hosts.concat(), request) {
            return Ok(Origin::Ours);
        }
        if matches!(&*request.method, "GET" | "HEAD") && request.origins.is_empty() {
            return Ok(Origin::Link);
        }
        let message = "a page of another site asks (Origin, Sec-Fetch-Site)";
        let remedy = "open the address itself, or ask with a program that is no browser";
        Err(HttpError::new(403, "cross_site", message, remedy))
    }

    fn includes(&self, host: &str) -> bool {
        let Some(name) = name_of(host) else { return false };
        let address = name.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        // Nobody has 0.0.0.0; but systems take it for loopback and browsers do not, so a page comes that way unmarked.
        if address.is_some_and(|address| address.is_unspecified()) {
            return false;
        }
        let written = address.map_or_else(|| name.clone(), |address| address.to_string());
        name == self.configured
            || self.further.iter().any(|known| known == "*" || *known == written)
            || name == "localhost"
            || address.is_some_and(|address| address.is_loopback())
    }
}

/// The name within `NAME:PORT` or `[ADDRESS]:PORT`, in lower case.
fn name_of(host: &str) -> Option<String> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']')?;
            let is_address = name.chars().all(|one| one.is_ascii_hexdigit() || ":.".contains(one));
            (Some(name).filter(|_| is_address)?, port.strip_prefix(':').or(port.is_empty().then_some(""))?)
        }
        None => host.split_once(':').unwrap_or((host, "")),
    };
    let is_name = !name.is_empty() && (host.starts_with('[') || !name.contains(is_no_part));
    (is_name && port.bytes().all(|byte| byte.is_ascii_digit())).then(|| name.to_lowercase())
}

fn is_no_part(character: char) -> bool {
    character.is_whitespace() || ":/?#@[]".contains(character)
}

fn is_foreign(host: &str, request: &Request) -> bool {
    request.sites.iter().any(|site| !OWN_SITES.contains(&&*site.to_lowercase()))
        || request.origins.len() > 1
        || request.origins.iter().any(|origin| !is_of(host, origin))
}

/// Whether the page's host and port are ours; its scheme is not looked at: something in front may speak TLS.
fn is_of(host: &str, origin: &str) -> bool {
    let (host, origin) = (host.to_lowercase(), origin.to_lowercase());
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    let default = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let bare = |name: &str| name.strip_suffix(default).unwrap_or(name).to_owned();
    bare(authority) == bare(&host)
}

/// What a stranger has written, not at length.
fn shown(host: &str) -> String {
    let mut short: String = host.chars().take(SHOWN_CHARACTERS_MAX).collect();
    if short.len() < host.len() {
        short += "...";
    }
    quoted(&short)
}

#[cfg(test)]
mod tests {
    use super::super::request::request_of;
    use super::*;

    fn names() -> HostNames {
        HostNames { configured: "edge-loop".into(), further: vec!["edge.example".into()] }
    }

    /// Is a name that somebody else may have bent to loopback none of ours?
    #[test]
    fn only_names_of_loopback_are_ours() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:8080",
            "127.9.9.9",
            "[::1]:8080",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "edge.example:1",
            "Edge-Loop:80",
            "localhost:",
        ] {
            assert!(names().includes(host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "",
            "[fe80::1]",
            "0.0.0.0:80",
            "[::]",
            "localhost:80:80",
            "localhost:x",
            "user@localhost",
            "[::1",
            "[::1]x",
            "[localhost]x",
            "::1",
        ] {
            assert!(!names().includes(host), "{host}");
        }
        assert!(HostNames { further: vec!["*".into()], ..names() }.includes("anything"));
    }

    /// Is a page of another site refused, a link of one answered, and a page of ours somebody like all others?
    #[test]
    fn pages_of_other_sites_are_told_apart() {
        let judge = |method: &str, fields: &str| {
            let request = request_of(&format!("{method} / HTTP/1.1\r\nHost: localhost:8080\r\n{fields}\r\n"));
            names().judge(&request).map_err(|error| error.code)
        };
        for fields in
            ["", "Origin: http://localhost:8080\r\n", "Sec-Fetch-Site: none\r\n", "Sec-Fetch-Site: Same-Origin\r\n"]
        {
            assert_eq!(judge("DELETE", fields), Ok(Origin::Ours), "{fields}");
        }
        for fields in ["Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n"] {
            assert_eq!(judge("GET", fields), Ok(Origin::Link), "{fields}");
            assert_eq!(judge("DELETE", fields), Err("cross_site"), "{fields}");
        }
        for origin in ["http://evil.example", "null", "http://localhost:3000", "http://localhost", "localhost:8080"] {
            assert_eq!(judge("GET", &format!("Origin: {origin}\r\n")), Err("cross_site"), "{origin}");
        }
        let two = "Origin: http://localhost:8080\r\nOrigin: http://localhost:8080\r\n";
        assert_eq!(judge("GET", two), Err("cross_site"));
    }
}
