//! One request, as far as it matters here: its method, path, and the fields that say who asks and whom.

use std::net::IpAddr;

/// Bytes of a head.
pub(super) const HEAD_BYTES_MAX: usize = 16 << 10;
const FIELDS_MAX: usize = 64;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub hosts: Vec<String>,
    pub authorization: Vec<String>,
    pub has_origin: bool,
}

/// What some bytes are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// The beginning of a request.
    Partial,
    Whole(Request),
    /// No request, or one that is too long.
    Wrong,
}

pub(super) fn read(bytes: &[u8]) -> Read {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut parsed = httparse::Request::new(&mut fields);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Read::Partial,
        _ => return Read::Wrong,
    }
    let (Some(method), Some(target)) = (parsed.method, parsed.path) else { return Read::Wrong };
    let all = |name: &str| {
        let named = parsed.headers.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
        named.map(|field| String::from_utf8_lossy(field.value).into_owned()).collect::<Vec<_>>()
    };
    Read::Whole(Request {
        method: method.to_owned(),
        path: target.split('?').next().unwrap_or_default().to_owned(),
        hosts: all("host"),
        authorization: all("authorization"),
        has_origin: !all("origin").is_empty(),
    })
}

impl Request {
    /// Whether it calls this listener by a name of loopback or one of `further`: a page of another site that has bent its own
    /// name to this address says that one. HTTP/1.0 may do without; no browser does.
    pub(super) fn is_for_us(&self, further: &[String]) -> bool {
        self.hosts.len() < 2 && self.hosts.iter().all(|host| is_ours(host, further))
    }
}

fn is_ours(host: &str, further: &[String]) -> bool {
    let host = host.to_lowercase();
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_named = further.iter().any(|known| known == "*" || known == name);
    is_named || name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_when_it_is_whole() {
        let text = b"GET /metrics?x=1 HTTP/1.1\r\nHost: localhost:8080\r\nAuthorization: Bearer t\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(read(&text[..end]), Read::Partial);
        }
        let Read::Whole(request) = read(text) else { panic!("it is whole") };
        assert_eq!((&*request.method, &*request.path), ("GET", "/metrics"));
        assert_eq!(request.authorization, ["Bearer t"]);
        assert!(request.is_for_us(&[]));
        assert_eq!(read(b"\x10\x0d\x00\x04MQTT"), Read::Wrong);
        assert_eq!(read(&[b'G'; HEAD_BYTES_MAX]), Read::Wrong);
    }

    /// Is a name that somebody else may have bent to loopback none of ours?
    #[test]
    fn only_names_of_loopback_are_ours() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "edge.example:1"] {
            assert!(is_ours(host, &["edge.example".into()]), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "10.0.0.1", "", "[fe80::1]"] {
            assert!(!is_ours(host, &["edge.example".into()]), "{host}");
        }
        assert!(is_ours("anything", &["*".into()]));
    }
}
