//! What pages and proxies in front of a listener are named by.

use std::net::IpAddr;

use super::host_port::is_address;

/// What a browser sends as `Origin`: scheme and authority; or `*`.
///
/// # Errors
/// Something else, such as a whole address.
pub(super) fn origin(text: &str) -> Result<String, &'static str> {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    };
    let is_authority = |rest: &str| !rest.is_empty() && !rest.contains(|c: char| "/?#@".contains(c) || is_blank(c));
    let is_one = text == "*"
        || text.eq_ignore_ascii_case("null")
        || text.split_once("://").is_some_and(|(scheme, rest)| is_scheme(scheme) && is_authority(rest));
    is_one.then(|| text.to_owned()).ok_or("an origin without a path, as in \"https://dash.example\", or \"*\"")
}

/// A name or address as it stands in `Host`, without a port: in lower case, IPv6 without brackets; or `*`.
///
/// # Errors
/// Something else, such as a whole URL.
pub(super) fn host_name(text: &str) -> Result<String, &'static str> {
    let name = text.to_lowercase();
    let bare = name.strip_prefix('[').unwrap_or(&name);
    let bare = bare.strip_suffix(']').unwrap_or(bare);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(address.to_string());
    }
    if is_address(bare) {
        return Ok(bare.to_owned());
    }
    let is_label = |label: &str| {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        !label.is_empty() && label.chars().all(is_part)
    };
    let is_one = name == "*" || name.split('.').all(is_label);
    is_one.then_some(name).ok_or("a name or address without scheme and port, as in \"broker.example\", or \"*\"")
}

/// The path of a WebSocket.
///
/// # Errors
/// It does not begin with a slash, or has a query.
pub(super) fn web_path(text: &str) -> Result<String, &'static str> {
    let is_one = text.starts_with('/') && !text.contains(|c: char| "?#".contains(c) || is_blank(c));
    is_one
        .then(|| text.to_owned())
        .ok_or("a path that begins with \"/\" and has neither blanks nor a query, as in \"/mqtt\"")
}

/// A range of addresses in CIDR notation, or one address.
///
/// # Errors
/// Neither of them.
pub(super) fn network(text: &str) -> Result<String, &'static str> {
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let most = |address: IpAddr| if address.is_ipv4() { 32 } else { 128 };
    let is_length = |bits: &str, most: u8| {
        bits.bytes().all(|digit| digit.is_ascii_digit()) && bits.parse::<u8>().is_ok_and(|bits| bits <= most)
    };
    let is_one = address.parse().is_ok_and(|address| bits.is_none_or(|bits| is_length(bits, most(address))));
    is_one.then(|| text.to_owned()).ok_or("a network such as \"10.0.0.0/8\", or one IP address")
}

/// Permission bits of a socket.
///
/// # Errors
/// They are none, or others than those for reading, writing and running.
pub(super) fn mode(text: &str) -> Result<String, &'static str> {
    let bits = if text.len() == 4 { text.strip_prefix('0').unwrap_or("") } else { text };
    let is_one = bits.len() == 3 && bits.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    is_one.then(|| text.to_owned()).ok_or("permission bits in octal, as in \"0660\"")
}

/// What regular expressions of Python take for white space.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || ('\u{1C}'..='\u{1F}').contains(&c)
}
