//! URLs that the broker asks others at.

use lapwing_node::is_hidden;

use super::host_port::{is_address, is_host};

const FORM: &str = "a URL, as in \"https://issuer.example/jwks.json\"";

/// `https://` or `http://` with a host, and without user, password and fragment.
///
/// # Errors
/// Something else.
pub(super) fn outside_url(text: &str) -> Result<String, &'static str> {
    let (scheme, rest) = text.split_once("://").ok_or(FORM)?;
    let (authority, _) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err("a URL without user and password in it: others log URLs");
    }
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    if !is_web || text.contains(|c| is_hidden(c) || (c.is_whitespace() && c != ' ')) || !is_authority(authority) {
        return Err(FORM);
    }
    if text.contains(' ') || text.split_once('#').is_some_and(|(_, fragment)| !fragment.is_empty()) {
        return Err("a URL with neither blanks nor a fragment in it");
    }
    Ok(text.to_owned())
}

/// A host with a port or without.
fn is_authority(text: &str) -> bool {
    let is_port = |port: &str| {
        let is_number =
            port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
        port.is_empty() || is_number
    };
    match text.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']').is_some_and(|(host, port)| {
            host.contains(':') && is_address(host) && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
        }),
        None => {
            let (host, port) = text.split_once(':').unwrap_or((text, ""));
            is_host(host) && is_port(port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each mistake told by its own words?
    #[test]
    fn urls_that_others_are_asked_at() {
        for text in ["https://a.example", "HTTP://[::1]:81/x?y=z", "https://a.example:/#"] {
            assert_eq!(outside_url(text), Ok(text.to_owned()));
        }
        for (text, said) in [
            ("a.example/x", "as in"),
            ("ftp://a.example", "as in"),
            ("https://a.example:0", "as in"),
            ("https://[127.0.0.1]/", "as in"),
            ("https://a.example/\u{200B}", "as in"),
            ("https://u:p@a.example/", "user and password"),
            ("https://a.example/#b", "fragment"),
            ("https://a.example/b c", "blanks"),
        ] {
            assert!(outside_url(text).is_err_and(|wanted| wanted.contains(said)), "{text}");
        }
    }
}
