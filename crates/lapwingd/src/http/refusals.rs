//! What the log has of those who are refused over HTTP, and what is written of them into the audit trail.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lapwing_node::Handle;
use serde_json::json;

use super::caller::Caller;
use super::error::HttpError;
use super::identify::claimed_name;
use super::request::Request;
use super::route::Route;

/// One line of a kind within it; the next says how many were left out.
const INTERVAL: Duration = Duration::from_secs(60);

/// No method that is answered has more; what is no method may have thousands.
const METHOD_CHARACTERS_MAX: usize = 16;

/// Lines that strangers cause, at a bounded rate, so that nobody fills a disk or hides another line.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    /// By kind: until when there is no more of it, and how many were left out.
    kinds: BTreeMap<&'static str, (Instant, u64)>,
    lines: Vec<String>,
}

impl Refusals {
    /// A connection was ended, most before they had a request. `why` is its kind, too.
    pub(super) fn connection(&self, address: &str, why: &'static str) {
        self.tell(Instant::now(), why, || format!("HTTP ends a connection of {address}: {why}"));
    }

    /// A connection could not be accepted.
    pub(super) fn accepting(&self, error: &io::Error) {
        self.tell(Instant::now(), "accept", || {
            format!("HTTP cannot accept a connection: {error}; those that wait are accepted when it can")
        });
    }

    /// A request that is none of ours: it calls us by another name, or a page of another site sends it. Its code is its kind.
    pub(super) fn door(&self, address: &str, refusal: &HttpError) {
        let HttpError { code, message, remedy, .. } = refusal;
        self.tell(Instant::now(), code, || format!("HTTP refuses a request of {address}: {message}; {remedy}"));
    }

    /// A request was refused, of `caller` if it is known who sent it.
    pub(super) fn request(&self, status: u16, request: &Request, address: &str, caller: Option<&Caller>) {
        let Some(why) = why(status) else { return };
        // Of credentials that do not hold the node tells; a 503 to somebody who is known says what is busy.
        if (status == 401 && !request.authorization.is_empty()) || (status == 503 && caller.is_some()) {
            return;
        }
        let name = caller.and_then(|caller| caller.name.as_ref());
        let who = name.map_or_else(|| address.to_owned(), |name| format!("{address} ({name})"));
        // Not the path itself: somebody may have put a token into it.
        let path = Route::of(&request.path).map_or("another path", Route::form);
        self.tell(Instant::now(), why, || {
            let method: String = request.method.chars().take(METHOD_CHARACTERS_MAX).collect();
            format!("HTTP answers {status} to {who} for {method} {path}: {why}")
        });
    }

    /// Those that nobody has written yet.
    pub(super) fn take_lines(&self) -> Vec<String> {
        std::mem::take(&mut self.told().lines)
    }

    fn tell(&self, now: Instant, kind: &'static str, line: impl FnOnce() -> String) {
        let mut told = self.told();
        let left_out = match told.kinds.get_mut(kind) {
            Some((until, left_out)) if now < *until => {
                *left_out += 1;
                return;
            }
            Some((_, left_out)) => *left_out,
            None => 0,
        };
        told.kinds.insert(kind, (now + INTERVAL, 0));
        let more = if left_out > 0 { format!(" (and {left_out} more like it before)") } else { String::new() };
        told.lines.push(line() + &more);
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// None: it is no refusal.
fn why(status: u16) -> Option<&'static str> {
    match status {
        401 => Some("it shows no credentials"),
        403 => Some("no rule permits it"),
        413 => Some("none of its bodies is taken"),
        429 => Some("too many wrong passwords"),
        503 => Some("too many ask, or nobody can say who it is"),
        _ => None,
    }
}

/// Writes into the audit trail, if there is one: changes, whatever became of them, and who was refused. The query of a path is not
/// written: a secret may be in it.
pub(super) fn audit(node: &Handle, request: &Request, address: &str, caller: Option<&Caller>, status: u16) {
    if !node.is_audited() {
        return;
    }
    let is_open = Route::of(&request.path).is_some_and(Route::is_open);
    let is_refused = matches!(status, 401 | 403 | 421 | 429) || (status == 503 && caller.is_none() && !is_open);
    if matches!(&*request.method, "GET" | "HEAD" | "OPTIONS") && !is_refused {
        return;
    }
    let mut fields = json!({
        "over": "http", "method": request.method, "path": request.path, "status": status,
        "username": caller.and_then(|caller| caller.name.as_ref()), "address": address,
    });
    let (event, kind) = if is_refused {
        fields["claimed_username"] = request.authorization.first().and_then(|header| claimed_name(header)).into();
        ("http_refused", Some("http"))
    } else {
        fields["result"] = serde_json::Value::Null;
        // What came to nothing may come as often as anybody likes.
        ("change", if (200..300).contains(&status) { None } else { Some("http") })
    };
    // Its fields are an object, and there is such a kind: nothing else is refused. A trail that cannot be written says so itself.
    let _ = node.audit(event, &fields.to_string(), kind);
}

#[cfg(test)]
mod tests {
    use super::super::request::request_of;
    use super::*;

    /// Is there one line of a kind in its time, and does the next say how many there were?
    #[test]
    fn lines_of_one_kind_are_seldom() {
        let (refusals, begun) = (Refusals::default(), Instant::now());
        for n in 0..3 {
            refusals.tell(begun, "a", || format!("line {n}"));
        }
        refusals.tell(begun, "b", || "other".into());
        refusals.tell(begun + INTERVAL, "a", || "line 3".into());
        assert_eq!(refusals.take_lines(), ["line 0", "other", "line 3 (and 2 more like it before)"]);
        assert!(refusals.take_lines().is_empty());
    }

    /// Does a line say who is refused and why, and nothing that a stranger has written into a path?
    #[test]
    fn a_line_has_no_path() {
        let refusals = Refusals::default();
        let request = request_of("GET /v1/streams/lapwing_secret HTTP/1.1\r\nHost: h\r\n\r\n");
        let named = Caller { name: Some("alice".into()), standing: super::super::caller::Standing::Ruled };
        refusals.request(403, &request, "127.0.0.1", Some(&named));
        refusals.request(503, &request, "127.0.0.1", Some(&named));
        refusals.request(200, &request, "127.0.0.1", None);
        let line = "HTTP answers 403 to 127.0.0.1 (alice) for GET /v1/streams/{name}: no rule permits it";
        assert_eq!(refusals.take_lines(), [line]);
    }

    /// Is of what is no method only a beginning written?
    #[test]
    fn a_line_has_an_end() {
        let refusals = Refusals::default();
        let request = request_of(&format!("{} /v1/streams HTTP/1.1\r\nHost: h\r\n\r\n", "M".repeat(4096)));
        refusals.request(403, &request, "127.0.0.1", None);
        let line = "HTTP answers 403 to 127.0.0.1 for MMMMMMMMMMMMMMMM /v1/streams: no rule permits it";
        assert_eq!(refusals.take_lines(), [line]);
    }
}
