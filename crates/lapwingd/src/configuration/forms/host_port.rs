//! `HOST:PORT` in two parts and back, as `lapwing.host_port` has it.

use std::net::{IpAddr, Ipv6Addr};

use lapwing_node::is_hidden;

/// What is said of one that is none.
pub(super) const FORM: &str = "HOST:PORT (0..65535), as in \"127.0.0.1:1883\" or \"[::1]:1883\"";
const PORT_DIGITS_MAX: usize = 5;
/// Of one part between dots, as DNS has it.
const LABEL_CHARACTERS_MAX: usize = 63;

/// Host without brackets, a name in lower case, and port; None: a part is missing, or is none.
pub(super) fn split_host_port(address: &str) -> Option<(String, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(host) => scoped(host).then(|| host.to_owned())?,
        None => Some(host.to_lowercase()).filter(|host| is_host(host))?,
    };
    // A sign would be taken for part of a number.
    let is_number = (1..=PORT_DIGITS_MAX).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    Some((host, is_number.then(|| port.parse().ok()).flatten()?))
}

/// The inverse; brackets around IPv6.
pub(super) fn join_host_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Whether it is an address, of IPv6 with a zone behind `%` too.
pub(super) fn is_address(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok() || scoped(text)
}

fn scoped(text: &str) -> bool {
    let (address, zone) = text.split_once('%').unwrap_or((text, "none"));
    address.parse::<Ipv6Addr>().is_ok() && !zone.is_empty() && !zone.contains(|c| is_hidden(c) || "%[] ".contains(c))
}

/// Whether it can be the name or the address of a machine: what cannot is no unknown name, but a mistake.
pub(super) fn is_host(host: &str) -> bool {
    let labels = host.strip_suffix('.').unwrap_or(host).split('.');
    labels.into_iter().all(|label| (1..=LABEL_CHARACTERS_MAX).contains(&label.chars().count()))
        && host
            .chars()
            .all(|c| if c.is_ascii() { c.is_ascii_graphic() && !"[]:/?#@\\".contains(c) } else { c.is_alphanumeric() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which spellings are understood, and is each the same when it is put together again?
    #[test]
    fn there_and_back() {
        for (text, host, port) in [
            ("127.0.0.1:0", "127.0.0.1", 0),
            ("[::1]:1883", "::1", 1883),
            ("[fe80::1%lo]:1", "fe80::1%lo", 1),
            ("LocalHost:01883", "localhost", 1883),
            ("a_b.example.:65535", "a_b.example.", 65_535),
            ("käse.example:1", "käse.example", 1),
        ] {
            assert_eq!(split_host_port(text), Some((host.to_owned(), port)), "{text}");
            assert_eq!(split_host_port(&join_host_port(host, port)), Some((host.to_owned(), port)));
        }
    }

    #[test]
    fn what_is_no_address_with_a_port() {
        let long = format!("{}:1", "a".repeat(LABEL_CHARACTERS_MAX + 1));
        for text in ["", "h", "h:", ":1", "h:65536", "h:+1", "h:x", "h:000001", "::1:1", "[::1]", "[::1]x:1", "[h]:1"] {
            assert_eq!(split_host_port(text), None, "{text}");
        }
        for text in ["a..b:1", "a b:1", "u@h:1", "h/x:1", "h:1\n", "\u{200B}h:1", "[::1%]:1", "[127.0.0.1]:1", &long] {
            assert_eq!(split_host_port(text), None, "{text}");
        }
    }
}
