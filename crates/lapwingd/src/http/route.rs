//! What there is to ask for, by path.

use super::error::HttpError;

/// One path's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route<'p> {
    Streams,
    Stream(&'p str),
    /// Messages of a partition.
    Read(&'p str, &'p str),
    /// A named reader of a stream.
    Reader(&'p str, &'p str),
    Alive,
    Ready,
    Metrics,
}

const KNOWN: &str = "known: /v1/streams, /v1/streams/NAME, /v1/streams/NAME/PARTITION, /v1/streams/NAME/readers/READER, /healthz, \
    /readyz, /metrics; groups, sessions, queues, clients and bans are served by lapwing broker";

impl<'p> Route<'p> {
    /// Of a decoded path.
    pub(super) fn of(path: &'p str) -> Option<Self> {
        let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        match &parts[..] {
            ["healthz"] => Some(Route::Alive),
            ["readyz"] => Some(Route::Ready),
            ["metrics"] => Some(Route::Metrics),
            ["v1", "streams", rest @ ..] if rest.iter().all(|part| !part.is_empty()) => match *rest {
                [] => Some(Route::Streams),
                [name] => Some(Route::Stream(name)),
                [name, partition] => Some(Route::Read(name, partition)),
                [name, "readers", reader] => Some(Route::Reader(name, reader)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The form of its path, for figures and the log.
    pub(super) fn form(self) -> &'static str {
        match self {
            Route::Streams => "/v1/streams",
            Route::Stream(_) => "/v1/streams/{name}",
            Route::Read(..) => "/v1/streams/{name}/{partition}",
            Route::Reader(..) => "/v1/streams/{name}/readers/{reader}",
            Route::Alive => "/healthz",
            Route::Ready => "/readyz",
            Route::Metrics => "/metrics",
        }
    }

    /// Whether it is answered without credentials: each tells one word, to whoever starts and watches the process.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Route::Alive | Route::Ready)
    }

    /// # Errors
    /// 405: it has no such method.
    pub(super) fn check_method(self, method: &str) -> Result<(), HttpError> {
        let allowed = if matches!(self, Route::Reader(..)) { &["DELETE"][..] } else { &["GET", "HEAD"] };
        if allowed.contains(&method) {
            return Ok(());
        }
        let allowed = allowed.join(", ");
        let message = format!("{method} is not allowed here");
        Err(HttpError::new(405, "method_not_allowed", message, format!("use {allowed}")).field("allow", allowed))
    }
}

/// 404: there is no such path here.
pub(super) fn not_found(path: &str) -> HttpError {
    HttpError::new(404, "not_found", format!("no such path: {path}"), KNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_by_their_form() {
        for (path, form) in [
            ("/v1/streams", Some("/v1/streams")),
            ("/v1/streams/a", Some("/v1/streams/{name}")),
            ("/v1/streams/a/readers", Some("/v1/streams/{name}/{partition}")),
            ("/v1/streams/a/readers/r", Some("/v1/streams/{name}/readers/{reader}")),
            ("/healthz", Some("/healthz")),
            ("/healthz/", None),
            ("/v1/streams/", None),
            ("/v1/streams/a/0/", None),
            ("/v1/streams/a/b/c", None),
            ("/v1/groups", None),
            ("v1/streams", None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(Route::of(path).map(Route::form), form, "{path}");
        }
    }

    #[test]
    fn each_has_its_methods() {
        assert_eq!(Route::Streams.check_method("HEAD"), Ok(()));
        assert_eq!(Route::Reader("a", "r").check_method("DELETE"), Ok(()));
        for (route, method) in
            [(Route::Streams, "DELETE"), (Route::Read("a", "0"), "POST"), (Route::Reader("a", "r"), "GET")]
        {
            assert_eq!(route.check_method(method).expect_err(method).status, 405);
        }
    }
}
