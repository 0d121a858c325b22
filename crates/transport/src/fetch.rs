//! Asks others over HTTP: blocking, bounded in time and bytes, nobody but whom it was told to ask.
//!
//! Redirects are not followed, no proxy of the environment is used, no connection is kept: an idle one may have been closed by
//! then, and a request that nobody got is an answer too few. Plain HTTP is for this machine, unless it is said to be meant.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use lapwing_files::without_marks;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Body, Error, http};

/// Heads of answers.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// Whom to ask, and within which bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// `https://HOST[:PORT]/...`; or `http://` to loopback, or anywhere with `plain`.
    pub url: String,
    /// Authorities in PEM that its certificate may come from; `None`: those of the system.
    pub ca: Option<String>,
    /// Plain HTTP beyond loopback is meant.
    pub plain: bool,
    /// From the beginning of a request to the last byte of its answer.
    pub timeout: Duration,
    /// Longer answers are an error.
    pub bytes_max: u64,
}

/// Why there is no answer; nothing of what was sent or received is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{shown_url}: {what}")]
pub struct FetchError {
    /// The URL without user, password and query.
    pub shown_url: String,
    /// What happened.
    pub what: String,
}

/// Asks one URL; shared by threads.
#[derive(Clone, Debug)]
pub struct Fetcher {
    agent: Agent,
    url: String,
    shown_url: String,
    timeout: Duration,
    bytes_max: u64,
}

impl Fetcher {
    /// Reads the settings; nothing is asked yet.
    ///
    /// # Errors
    /// The URL cannot be asked, or the authorities are none.
    pub fn new(settings: &FetchSettings) -> Result<Self, FetchError> {
        let FetchSettings { url, ca, plain, timeout, bytes_max } = settings;
        let uri: Uri = url.parse().map_err(|_| FetchError { shown_url: "URL".into(), what: "is none".into() })?;
        let shown_url = shown(&uri);
        let error = |what: String| FetchError { shown_url: shown_url.clone(), what };
        let is_https = check_url(&uri, *plain).map_err(error)?;
        let tls = if is_https { Some(tls(ca.as_deref()).map_err(error)?) } else { None };
        let builder = Agent::config_builder()
            .timeout_global(Some(*timeout))
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .https_only(is_https)
            .max_idle_connections(0)
            .max_response_header_size(HEAD_BYTES_MAX)
            .user_agent("lapwing");
        let agent = match tls {
            Some(tls) => builder.tls_config(tls),
            None => builder,
        };
        let agent = agent.build().new_agent();
        Ok(Fetcher { agent, url: url.clone(), shown_url, timeout: *timeout, bytes_max: *bytes_max })
    }

    /// What GET answers with 200.
    ///
    /// # Errors
    /// There is no such answer within time and bytes.
    pub fn get(&self) -> Result<Vec<u8>, FetchError> {
        self.body_of(self.agent.get(&self.url).call())
    }

    /// What POST of `json` answers with 200; `authorization`: what stands in that header.
    ///
    /// # Errors
    /// There is no such answer within time and bytes.
    pub fn post(&self, json: &[u8], authorization: Option<&str>) -> Result<Vec<u8>, FetchError> {
        let request = self.agent.post(&self.url).header("content-type", "application/json");
        let request = match authorization {
            Some(value) => request.header("authorization", value),
            None => request,
        };
        self.body_of(request.send(json))
    }

    /// The URL without user, password and query.
    pub fn shown_url(&self) -> &str {
        &self.shown_url
    }

    fn body_of(&self, answer: Result<http::Response<Body>, Error>) -> Result<Vec<u8>, FetchError> {
        let mut answer = answer.map_err(|error| self.error(&error))?;
        let status = answer.status();
        if status.is_redirection() {
            return Err(self.fault(format!("answers {}, and redirects are not followed", status.as_u16())));
        }
        if status != http::StatusCode::OK {
            return Err(self.fault(format!("answers {}", status.as_u16())));
        }
        let body = answer.body_mut().with_config().limit(self.bytes_max).read_to_vec();
        body.map_err(|error| self.error(&error))
    }

    fn error(&self, error: &Error) -> FetchError {
        self.fault(match error {
            Error::Timeout(_) => format!("no answer within {} ms", self.timeout.as_millis()),
            Error::BodyExceedsLimit(_) => format!("answers with more than {} bytes", self.bytes_max),
            Error::Io(error) => error.to_string(),
            Error::Rustls(error) => error.to_string(),
            Error::HostNotFound => "its host is not known".into(),
            Error::ConnectionFailed => "nobody takes the connection".into(),
            // Of the rest some texts may quote what was sent or received.
            _ => "is no HTTP as it should be".into(),
        })
    }

    fn fault(&self, what: String) -> FetchError {
        FetchError { shown_url: self.shown_url.clone(), what }
    }
}

/// Whether it is HTTPS.
fn check_url(uri: &Uri, plain: bool) -> Result<bool, String> {
    let Some(host) = uri.host().filter(|host| !host.is_empty()) else { return Err("has no host".into()) };
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("has a user or password in it, which would be in logs of others".into());
    }
    match uri.scheme_str() {
        Some("https") => Ok(true),
        Some("http") if plain || is_loopback(host) => Ok(false),
        Some("http") => Err("is plain HTTP beyond this machine: use https, or say that it is meant".into()),
        _ => Err("is neither https:// nor http://".into()),
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn shown(uri: &Uri) -> String {
    let (scheme, host) = (uri.scheme_str().unwrap_or_default(), uri.host().unwrap_or_default());
    let port = uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{scheme}://{host}{port}{}", uri.path())
}

fn tls(ca: Option<&str>) -> Result<TlsConfig, String> {
    let authorities: Vec<CertificateDer<'static>> = match ca {
        Some(pem) => CertificateDer::pem_slice_iter(&without_marks(pem.as_bytes()))
            .collect::<Result<_, _>>()
            .map_err(|_| "the file of its authorities is no PEM, or cut off".to_owned())?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    if authorities.is_empty() {
        return Err("there are no authorities that its certificate could come from".into());
    }
    let authorities: Vec<_> = authorities.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(default_provider()))
        .root_certs(RootCerts::new_with_certs(&authorities))
        .build())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use super::*;

    fn settings(url: &str) -> FetchSettings {
        let timeout = Duration::from_secs(60);
        FetchSettings { url: url.into(), ca: None, plain: false, timeout, bytes_max: 1000 }
    }

    /// Answers one connection as told, and gives its URL.
    fn answering(answer: impl FnOnce(TcpStream) + Send + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            answer(stream);
        });
        url
    }

    fn get(answer: impl FnOnce(TcpStream) + Send + 'static) -> Result<Vec<u8>, String> {
        Fetcher::new(&settings(&answering(answer))).unwrap().get().map_err(|error| error.what)
    }

    fn says(text: String) -> impl FnOnce(TcpStream) + Send + 'static {
        move |mut stream| stream.write_all(text.as_bytes()).unwrap()
    }

    #[test]
    fn an_answer_is_200_within_time_and_bytes() {
        assert_eq!(get(says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".into())).unwrap(), b"{}");
        let long = "x".repeat(1001);
        for (answer, expected) in [
            (format!("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n{long}"), "more than 1000 bytes"),
            (format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{long}"), "more than 1000 bytes"),
            ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".into(), "redirects"),
            ("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n".into(), "answers 500"),
            ("HTTP/1.1 204 No Content\r\n\r\n".into(), "answers 204"),
        ] {
            let error = get(says(answer)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        for broken in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "no HTTP\r\n\r\n"] {
            assert!(get(says(broken.into())).is_err(), "{broken}");
        }
        let url = answering(|_stream| thread::park());
        let brief = FetchSettings { timeout: Duration::from_millis(50), ..settings(&url) };
        let silent = Fetcher::new(&brief).unwrap().get().map_err(|error| error.what);
        assert!(silent.unwrap_err().contains("within 50 ms"));
    }

    #[test]
    fn nobody_there_is_an_error() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let error =
            Fetcher::new(&settings(&format!("http://127.0.0.1:{port}/a?key=secret"))).unwrap().get().unwrap_err();
        assert!(error.to_string().contains("/a") && !error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn plain_http_is_for_this_machine() {
        let fault = |url: &str| Fetcher::new(&settings(url)).map(|_| ()).map_err(|error| error.what);
        for url in ["http://127.0.0.1/a", "http://localhost:81", "http://[::1]:1/a"] {
            assert_eq!(fault(url), Ok(()), "{url}");
        }
        for url in [
            "http://localhost.example/a",
            "http://192.0.2.1/",
            "http://127.0.0.1.example",
            "ftp://127.0.0.1/",
            "/a",
            "https://a:b@c/",
        ] {
            assert!(fault(url).is_err(), "{url}");
        }
        let meant = FetchSettings { plain: true, ..settings("http://192.0.2.1/") };
        assert!(Fetcher::new(&meant).is_ok());
        for ca in ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAA"] {
            let settings = FetchSettings { ca: Some(ca.into()), ..settings("https://192.0.2.1/") };
            assert!(Fetcher::new(&settings).is_err(), "{ca}");
        }
    }
}
