//! The head of one request, as far as it matters here.

use super::query::{Query, decoded};

/// Bytes of a head.
pub(super) const HEAD_BYTES_MAX: usize = 16 << 10;
const FIELDS_MAX: usize = 64;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub method: String,
    /// Decoded, without the query.
    pub path: String,
    pub query: Query,
    pub hosts: Vec<String>,
    pub authorization: Vec<String>,
    pub origins: Vec<String>,
    pub sites: Vec<String>,
    pub body: Body,
}

/// What a head says of a body behind it. None is ever read: each connection has one request, so what follows is no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Nothing,
    Something,
    /// Two fields say how long it is. Something in front may believe the other one.
    TwoLengths,
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
        Ok(httparse::Status::Complete(length)) if length <= HEAD_BYTES_MAX => {}
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Read::Partial,
        _ => return Read::Wrong,
    }
    whole(&parsed).map_or(Read::Wrong, Read::Whole)
}

fn whole(parsed: &httparse::Request<'_, '_>) -> Option<Request> {
    let (method, target) = (parsed.method?, parsed.path?);
    let all = |name: &str| {
        let named = parsed.headers.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
        named.map(|field| String::from_utf8_lossy(field.value).into_owned()).collect::<Vec<_>>()
    };
    let hosts = all("host");
    // RFC 9112, 3.2: whoever says 1.1 says whom he asks, once.
    if hosts.len() > 1 || (hosts.is_empty() && parsed.version == Some(1)) {
        return None;
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Some(Request {
        method: method.to_owned(),
        path: decoded(path),
        query: Query::parse(query),
        hosts,
        authorization: all("authorization"),
        origins: all("origin"),
        sites: all("sec-fetch-site"),
        body: body(&all("content-length"), &all("transfer-encoding"))?,
    })
}

/// RFC 9112, 6.1 and 6.3; None: what it says is no length, and nobody knows where it ends.
fn body(lengths: &[String], encodings: &[String]) -> Option<Body> {
    let mut said = lengths.iter().flat_map(|one| one.split(',')).map(str::trim);
    let first = said.next();
    let is_length = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if first.is_some_and(|first| !is_length(first) || said.any(|other| other != first)) {
        return None;
    }
    match (encodings, first) {
        ([], None) => Some(Body::Nothing),
        ([], Some(length)) => Some(if length == "0" { Body::Nothing } else { Body::Something }),
        ([one], _) if !one.trim().eq_ignore_ascii_case("chunked") => None,
        ([_], None) => Some(Body::Something),
        ([_], Some(_)) => Some(Body::TwoLengths),
        _ => None,
    }
}

/// For tests.
#[cfg(test)]
pub(super) fn request_of(head: &str) -> Request {
    match read(head.as_bytes()) {
        Read::Whole(request) => request,
        other => panic!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_when_it_is_whole() {
        let text = b"GET /v1/%41?x=1 HTTP/1.1\r\nHost: localhost:8080\r\nAuthorization: Bearer t\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(read(&text[..end]), Read::Partial);
        }
        let Read::Whole(request) = read(text) else { panic!("it is whole") };
        assert_eq!((&*request.method, &*request.path, request.query.get("x")), ("GET", "/v1/A", Some("1")));
        assert_eq!(
            (&request.hosts[..], &request.authorization[..]),
            (&["localhost:8080".to_owned()][..], &["Bearer t".into()][..])
        );
        assert_eq!(read(b"\x10\x0d\x00\x04MQTT"), Read::Wrong);
        assert_eq!(read(&[b'G'; HEAD_BYTES_MAX]), Read::Wrong);
    }

    /// Is a head bounded in bytes and fields, also where it comes whole at once?
    #[test]
    fn a_head_is_bounded() {
        let long = format!("GET / HTTP/1.1\r\nHost: h\r\nX: {}\r\n\r\n", "x".repeat(HEAD_BYTES_MAX));
        assert_eq!(read(long.as_bytes()), Read::Wrong);
        let fields = |many: usize| format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "X: x\r\n".repeat(many));
        assert!(matches!(read(fields(FIELDS_MAX - 1).as_bytes()), Read::Whole(_)));
        assert_eq!(read(fields(FIELDS_MAX).as_bytes()), Read::Wrong);
    }

    /// Is a request whose length others may see otherwise none, or one with a body, which is refused?
    #[test]
    fn a_body_has_one_length() {
        let body = |fields: &str| match read(format!("GET / HTTP/1.1\r\nHost: h\r\n{fields}\r\n").as_bytes()) {
            Read::Whole(request) => Some(request.body),
            Read::Wrong => None,
            Read::Partial => panic!("it is whole"),
        };
        for (fields, said) in [
            ("", Some(Body::Nothing)),
            ("Content-Length: 0\r\n", Some(Body::Nothing)),
            ("Content-Length: 5\r\n", Some(Body::Something)),
            ("Content-Length: 5\r\nContent-Length: 5\r\n", Some(Body::Something)),
            ("Transfer-Encoding: chunked\r\n", Some(Body::Something)),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", Some(Body::TwoLengths)),
            ("Transfer-Encoding: Chunked\r\nContent-Length: 0\r\n", Some(Body::TwoLengths)),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", None),
            ("Content-Length: 5, 6\r\n", None),
            ("Content-Length: +5\r\n", None),
            ("Content-Length: \r\n", None),
            ("Content-Length: 0x5\r\n", None),
            ("Transfer-Encoding: identity\r\n", None),
            ("Transfer-Encoding: gzip, chunked\r\n", None),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", None),
            ("Transfer-Encoding : chunked\r\n", None),
            ("X: a\r\n Transfer-Encoding: chunked\r\n", None),
            ("Host: other\r\n", None),
        ] {
            assert_eq!(body(fields), said, "{fields:?}");
        }
        assert_eq!(read(b"GET / HTTP/1.1\r\n\r\n"), Read::Wrong, "1.1 says whom it asks");
        assert!(matches!(read(b"GET / HTTP/1.0\r\n\r\n"), Read::Whole(_)));
    }
}
