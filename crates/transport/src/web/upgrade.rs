//! The HTTP request that becomes a WebSocket, and what is wrong with those that do not.

use httparse::{Header, Request, Status};

use super::answer::{self, Fault};
use super::hosts::{Hosts, is_loopback};
use crate::address::ListenAddress;
use crate::refusal::Refusal;
use crate::settings::WebSettings;

/// The longest head taken; browsers send cookies with it.
const HEAD_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;
/// The subprotocol that must be offered and is answered \[MQTT-6.0.0-3\], \[MQTT-6.0.0-4\].
const SUBPROTOCOL: &str = "mqtt";
/// What proxies add to a head; one of them is enough.
const FORWARDED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];
const END: &[u8] = b"\r\n\r\n";

/// What an upgrade is judged by; one per listener.
#[derive(Clone, Debug)]
pub(crate) struct WebRules {
    pub(crate) path: String,
    /// Origins taken beside the same host's; `*` takes all.
    pub(crate) origins: Vec<String>,
    /// Names in `Host` under which the same host's are taken: another one may be an attack by DNS rebinding.
    pub(crate) hosts: Hosts,
}

impl WebRules {
    pub(crate) fn new(settings: WebSettings, address: &ListenAddress) -> Self {
        let hosts = Hosts::new(&settings, address);
        WebRules { path: settings.path, origins: settings.origins, hosts }
    }
}

/// What became of a piece of the head.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// More must come.
    Incomplete,
    /// Say this; the last `behind_bytes` of the piece are frames already.
    Accepted { answer: Vec<u8>, behind_bytes: usize, is_forwarded: bool },
    /// Say this and go.
    Refused { answer: Vec<u8>, refusal: Refusal },
}

/// Adds `piece` to `head`, and judges it once it is whole. `head` never grows beyond its bound.
pub(super) fn judge(head: &mut Vec<u8>, piece: &[u8], rules: &WebRules) -> Judged {
    let before = head.len();
    let taken = piece.len().min(HEAD_BYTES_MAX - before);
    head.extend_from_slice(&piece[..taken]);
    // Whatever is no text of HTTP, MQTT itself for one, is told so without waiting for the end of a head.
    if head.first().is_some_and(|byte| !byte.is_ascii_uppercase()) {
        return refused(Fault::NoHttp);
    }
    let look_from = before.saturating_sub(END.len() - 1);
    let end = head[look_from..].windows(END.len()).position(|window| window == END);
    let Some(end) = end.map(|at| look_from + at + END.len()) else {
        return if head.len() < HEAD_BYTES_MAX { Judged::Incomplete } else { refused(Fault::HeadTooLarge) };
    };
    match judge_whole(&head[..end], rules) {
        Ok(Wanted { key, is_forwarded }) => {
            let behind_bytes = piece.len() - (end - before);
            Judged::Accepted { answer: answer::accept(&key), behind_bytes, is_forwarded }
        }
        Err(fault) => refused(fault),
    }
}

fn refused(fault: Fault) -> Judged {
    let refusal = if fault == Fault::Origin { Refusal::WebSocketOrigin } else { Refusal::WebSocketUpgrade };
    Judged::Refused { answer: answer::refuse(fault), refusal }
}

/// What a valid request says.
struct Wanted {
    /// To be answered.
    key: Vec<u8>,
    /// A proxy has added to it. Nobody gains by forging that: it only makes us doubt what the kernel measures.
    is_forwarded: bool,
}

/// What is asked for, or what is wrong.
fn judge_whole(head: &[u8], rules: &WebRules) -> Result<Wanted, Fault> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = Request::new(&mut headers);
    match request.parse(head) {
        Ok(Status::Complete(length)) if length == head.len() => {}
        Err(httparse::Error::TooManyHeaders) => return Err(Fault::HeadTooLarge),
        Ok(_) | Err(_) => return Err(Fault::NoHttp),
    }
    let path = request.path.unwrap_or_default();
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let fields = Fields(request.headers);
    if request.version != Some(1) {
        return Err(Fault::NoHttp);
    }
    if path != rules.path {
        return Err(Fault::Path);
    }
    if request.method != Some("GET") {
        return Err(Fault::Method);
    }
    if !fields.has_token("upgrade", "websocket") || !fields.has_token("connection", "upgrade") {
        return Err(Fault::NoUpgrade);
    }
    if fields.only("sec-websocket-version") != Some("13") {
        return Err(Fault::Version);
    }
    let host = fields.only("host").ok_or(Fault::Host)?;
    if !is_origin_taken(&fields, host, rules) {
        return Err(Fault::Origin);
    }
    // Sixteen bytes in Base64.
    let key = fields.only("sec-websocket-key").filter(|key| is_key(key)).ok_or(Fault::Key)?;
    if !fields.has_token("sec-websocket-protocol", SUBPROTOCOL) {
        return Err(Fault::Subprotocol);
    }
    let is_forwarded = FORWARDED.iter().any(|name| fields.all(name).next().is_some());
    Ok(Wanted { key: key.as_bytes().to_vec(), is_forwarded })
}

/// 22 digits of Base64 and two of padding.
fn is_key(key: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    key.len() == 24 && key.ends_with("==") && key.bytes().take(22).all(is_digit)
}

/// Pages of the same host are taken, those of the origins set, and whatever is no page: it sends no origin.
fn is_origin_taken(fields: &Fields<'_, '_>, host: &str, rules: &WebRules) -> bool {
    if fields.all("origin").next().is_none() {
        return true;
    }
    let Some(origin) = fields.only("origin") else { return false };
    if rules.origins.iter().any(|taken| taken == "*" || taken.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let host = name_of(host);
    let same = origin.split_once("://").is_some_and(|(_, authority)| are_one(name_of(authority), host));
    same && rules.hosts.include(host)
}

/// Whether a page of host `page` is one of `host`. The names of loopback are one: people write whichever they have at hand, and
/// all of them are this machine.
fn are_one(page: &str, host: &str) -> bool {
    page.eq_ignore_ascii_case(host) || (is_loopback(page) && is_loopback(host))
}

/// The host without its port; brackets stay.
fn name_of(authority: &str) -> &str {
    let ends_in_port = |(_, port): &(&str, &str)| port.bytes().all(|byte| byte.is_ascii_digit());
    authority.rsplit_once(':').filter(ends_in_port).map_or(authority, |(name, _)| name)
}

/// The header fields of a request.
struct Fields<'h, 'b>(&'h [Header<'b>]);

impl<'b> Fields<'_, 'b> {
    /// The values of every field of this name that are text.
    fn all(&self, name: &str) -> impl Iterator<Item = &'b str> {
        let named = self.0.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
        named.map(|field| std::str::from_utf8(field.value).unwrap_or_default().trim_ascii())
    }

    /// The value of a field that comes exactly once.
    fn only(&self, name: &str) -> Option<&'b str> {
        let mut values = self.all(name);
        values.next().filter(|_| values.next().is_none())
    }

    /// Whether `token` stands in the comma-separated lists of this name; subprotocols are compared letter by letter.
    fn has_token(&self, name: &str, token: &str) -> bool {
        let is_exact = name == "sec-websocket-protocol";
        let matches = |item: &str| if is_exact { item == token } else { item.eq_ignore_ascii_case(token) };
        self.all(name).flat_map(|value| value.split(',')).any(|item| matches(item.trim_ascii()))
    }
}
