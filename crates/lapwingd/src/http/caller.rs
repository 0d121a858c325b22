//! Who asks for figures, and whether that one may see them: as the package decides it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use lapwing_node::{Handle, HttpClaim, Identified};

use super::answer::Answer;
use super::request::Request;

const MINUTE: Duration = Duration::from_secs(60);
/// The node answers within `limits.connect_timeout` and a second; this is for a defect.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where a request comes from, and the URL of the listener that it came to.
type Ways<'a> = (&'a str, &'a str);

/// What decides about callers.
#[derive(Debug)]
pub(super) struct Gate {
    /// Whether there are rules; written at a reload.
    pub has_rules: AtomicBool,
    failures_max: usize,
    failures: Mutex<VecDeque<Instant>>,
}

impl Gate {
    pub(super) fn new(has_rules: bool, failures_max: usize) -> Self {
        Gate { has_rules: AtomicBool::new(has_rules), failures_max, failures: Mutex::default() }
    }

    /// # Errors
    /// Why this request gets no figures: the answer to it.
    pub(super) fn may_see_figures(&self, node: &Handle, request: &Request, ways: Ways<'_>) -> Result<(), Answer> {
        let has_rules = self.has_rules.load(Ordering::Relaxed);
        if !node.checks_credentials() {
            // Without users a name means nothing, as on MQTT.
            return if !has_rules || node.may_observe(None) {
                Ok(())
            } else {
                Err(unauthenticated("this needs an identity"))
            };
        }
        let [header] = &request.authorization[..] else {
            let may = request.authorization.is_empty() && has_rules && node.may_observe(None);
            return if may { Ok(()) } else { Err(unauthenticated("this needs an identity")) };
        };
        let name = self.identify(node, header, ways)?;
        if has_rules && node.may_observe(Some(&name)) {
            return Ok(());
        }
        let remedy = "ask for a rule with may = [\"observe\"]; without rules nobody has rights over HTTP";
        Err(Answer::error(403, "forbidden", "this identity may not see this", remedy))
    }

    fn identify(&self, node: &Handle, header: &str, ways: Ways<'_>) -> Result<String, Answer> {
        if self.recent().len() >= self.failures_max {
            return Err(Answer::error(429, "too_many_failures", "too many failed attempts", "wait a minute"));
        }
        let given = credentials(header).ok_or_else(|| self.wrong())?;
        let claim =
            HttpClaim { username: given.name.as_deref(), password: &given.password, address: ways.0, listener: ways.1 };
        let (told, answered) = channel();
        // Nobody waits any more where the connection has gone.
        let at_once = node.identify(claim, move |identified| drop(told.send(identified)));
        match at_once.or_else(|| answered.recv_timeout(PATIENCE).ok()) {
            Some(Identified::Known { name, .. }) => Ok(name),
            Some(Identified::Wrong) => Err(self.wrong()),
            Some(Identified::Barred) => {
                Err(Answer::error(429, "barred", "nothing is checked of this name for now", "wait"))
            }
            _ => Err(Answer::error(503, "unverified", "nobody could look at the credentials", "try again")),
        }
    }

    fn wrong(&self) -> Answer {
        self.recent().push_back(Instant::now());
        unauthenticated("the credentials are not valid")
    }

    /// Failed attempts of the last minute.
    fn recent(&self) -> std::sync::MutexGuard<'_, VecDeque<Instant>> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        while failures.front().is_some_and(|at| at.elapsed() >= MINUTE) {
            failures.pop_front();
        }
        failures
    }
}

fn unauthenticated(message: &str) -> Answer {
    Answer::error(401, "unauthenticated", message, "send a user's name and password (Basic) or a token (Bearer)")
}

/// Not shown.
struct Credentials {
    name: Option<String>,
    password: Vec<u8>,
}

/// What a field `Authorization` says; None: nothing that is known here.
fn credentials(header: &str) -> Option<Credentials> {
    let (scheme, rest) = header.split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("bearer") && !rest.is_empty() {
        return Some(Credentials { name: None, password: rest.as_bytes().to_vec() });
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = BASE64.decode(rest.as_bytes()).ok()?;
    let at = decoded.iter().position(|byte| *byte == b':')?;
    let name = std::str::from_utf8(&decoded[..at]).ok()?.to_owned();
    Some(Credentials { name: Some(name), password: decoded[at + 1..].to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_basic_or_bearer() {
        let found = credentials("Basic YWxpY2U6YTpi").expect("they are");
        assert_eq!((found.name.as_deref(), &found.password[..]), (Some("alice"), &b"a:b"[..]));
        let found = credentials("bearer lapwing_t").expect("they are");
        assert_eq!((found.name, &found.password[..]), (None, &b"lapwing_t"[..]));
        for nothing in ["", "Basic", "Basic !!", "Digest x", "Bearer  "] {
            assert!(credentials(nothing).is_none(), "{nothing}");
        }
    }
}
