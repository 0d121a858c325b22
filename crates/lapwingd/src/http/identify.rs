//! From the field `Authorization` to an identity: Basic and Bearer, asked of the node, as for a CONNECT.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use lapwing_node::{Handle, HttpClaim, Identified};

use super::caller::{Caller, Standing};
use super::counters::Counters;
use super::error::{HttpError, unauthenticated};
use super::known_callers::KnownCallers;

const MINUTE: Duration = Duration::from_secs(60);
/// The node answers within `limits.connect_timeout` and a second; this is for a defect.
const PATIENCE: Duration = Duration::from_secs(120);
/// Every other code of a refusal is the reason that it is counted under.
const THROTTLED: &str = "too_many_failures";

/// Where a request comes from, and the URL of the listener that it came to.
pub(super) type Ways<'a> = (&'a str, &'a str);

/// Tells who sent a request.
#[derive(Debug)]
pub(super) struct Gate {
    /// Whether there are rules; written at a reload.
    pub has_rules: AtomicBool,
    /// What guards MQTT beside users and rules, in words; empty: without those, everybody may everything.
    guards: &'static str,
    failures_max: usize,
    failures: Mutex<VecDeque<Instant>>,
    /// Who has got in goes on being asked about, whatever others have failed with.
    known: KnownCallers,
}

impl Gate {
    pub(super) fn new(has_rules: bool, guards: &'static str, failures_max: usize) -> Self {
        Gate {
            has_rules: AtomicBool::new(has_rules),
            guards,
            failures_max,
            failures: Mutex::default(),
            known: KnownCallers::default(),
        }
    }

    /// # Errors
    /// 401 without valid credentials, 429 after too many failed attempts or while barred, 503 while too many wait or nobody can
    /// say.
    pub(super) fn caller(
        &self,
        node: &Handle,
        authorization: &[String],
        ways: Ways<'_>,
        counters: &Counters,
    ) -> Result<Caller, HttpError> {
        let has_rules = self.has_rules.load(Ordering::Relaxed);
        if !node.checks_credentials() {
            // As on MQTT: without users a name means nothing.
            return Ok(Caller::anonymous(self.anonymous(has_rules)));
        }
        let found = match authorization {
            // Without rules the anonymous would be as good as any user.
            [] if has_rules => return Ok(Caller::anonymous(Standing::Ruled)),
            [] => Err(unauthenticated("this needs an identity")),
            [header] => self.identify(node, header, ways),
            _ => Err(unauthenticated("the Authorization header is repeated or too long")),
        };
        let standing = if has_rules { Standing::Ruled } else { Standing::WithoutRules };
        let name = found.inspect_err(|refusal| {
            counters.refused(if refusal.code == THROTTLED { "throttled" } else { refusal.code });
        })?;
        Ok(Caller { name: Some(name), standing })
    }

    fn anonymous(&self, has_rules: bool) -> Standing {
        match self.guards {
            _ if has_rules => Standing::Ruled,
            "" => Standing::Open,
            guards => Standing::Guarded(guards),
        }
    }

    /// What an operator may not expect of who may do what here; empty: nothing.
    pub(super) fn notice(&self, node: &Handle) -> String {
        if self.has_rules.load(Ordering::Relaxed) {
            return String::new();
        }
        if node.checks_credentials() {
            return WITHOUT_RULES.to_owned();
        }
        if self.guards.is_empty() {
            return String::new();
        }
        format!(
            "HTTP serves health and metrics only: MQTT is guarded by {}, which HTTP cannot ask. Name users (auth.users) and \
             their rights ([[rules]]), or open it to everybody who can connect: http.open = true",
            self.guards
        )
    }

    fn identify(&self, node: &Handle, header: &str, ways: Ways<'_>) -> Result<String, HttpError> {
        let given = credentials(header);
        let is_known = self.admit(given.as_ref())?;
        let given = given.ok_or_else(|| self.wrong())?;
        let claim =
            HttpClaim { username: given.name.as_deref(), password: &given.password, address: ways.0, listener: ways.1 };
        let (told, answered) = channel();
        // Nobody waits any more where the connection has gone.
        let at_once = node.identify(claim, move |identified| drop(told.send(identified)));
        match at_once.or_else(|| answered.recv_timeout(PATIENCE).ok()) {
            Some(Identified::Known { name, .. }) => {
                // A guess in the meantime has ended what was known: else each request of who is right would be a guess more.
                if !is_known {
                    self.known.remember(&given);
                }
                Ok(name)
            }
            Some(Identified::Wrong) => {
                self.known.forget(&given);
                Err(self.wrong())
            }
            Some(Identified::Barred) => {
                let message = "too many wrong passwords from this address; nothing is checked for it now";
                Err(too_many("barred", message))
            }
            Some(Identified::Busy) => Err(unverified("busy", "too many credentials are being verified")),
            Some(Identified::Unavailable) | None => {
                Err(unverified("unavailable", "nobody can say now whose these credentials are"))
            }
        }
    }

    /// Whether these have been right before. Once too many have failed nothing else is looked at.
    fn admit(&self, given: Option<&Credentials>) -> Result<bool, HttpError> {
        let is_known = given.is_some_and(|given| self.known.includes(given));
        if !is_known && self.recent().len() >= self.failures_max {
            return Err(too_many(THROTTLED, "too many failed attempts from this address"));
        }
        Ok(is_known)
    }

    fn wrong(&self) -> HttpError {
        self.recent().push_back(Instant::now());
        unauthenticated("the credentials are not valid")
    }

    /// Failed attempts of the last minute. Whoever reaches loopback is on this machine: they all count as one.
    fn recent(&self) -> MutexGuard<'_, VecDeque<Instant>> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        while failures.front().is_some_and(|at| at.elapsed() >= MINUTE) {
            failures.pop_front();
        }
        failures
    }
}

const WITHOUT_RULES: &str = "HTTP: there are users and no rules, so over HTTP nobody may read streams, observe or administer; name \
    who may, as in [[rules]] identity = \"alice\", may = [\"admin\"]. With the first rule MQTT, too, permits only what rules \
    permit: docs/http-access.md shows the rules that leave it as it is";

fn too_many(code: &'static str, message: &str) -> HttpError {
    HttpError::new(429, code, message, "wait a minute").retry_after_s(60)
}

/// Nobody has looked at the credentials.
fn unverified(code: &'static str, message: &str) -> HttpError {
    HttpError::new(503, code, message, "try again after Retry-After").retry_after_s(1)
}

/// The user that `Basic` names, proved or not, for the record.
pub(super) fn claimed_name(header: &str) -> Option<String> {
    credentials(header)?.name
}

/// Not shown.
pub(super) struct Credentials {
    pub(super) name: Option<String>,
    pub(super) password: Vec<u8>,
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
        assert_eq!(claimed_name("Basic YWxpY2U6YTpi").as_deref(), Some("alice"));
        assert_eq!(claimed_name("Bearer lapwing_t"), None);
    }

    /// Without users: does a name mean nothing, and what guards MQTT close all but figures, until rules decide?
    #[test]
    fn who_has_no_name_stands_as_on_mqtt() {
        let standing = |guards, has_rules| Gate::new(has_rules, guards, 20).anonymous(has_rules);
        assert_eq!(standing("", false), Standing::Open);
        assert_eq!(standing("client certificates", false), Standing::Guarded("client certificates"));
        assert_eq!(standing("client certificates", true), Standing::Ruled);
        assert_eq!(standing("", true), Standing::Ruled);
    }

    /// Once others have failed too often, is nothing more looked at but what has been right before, and does a guess end that?
    #[test]
    fn who_has_got_in_before_goes_on_until_somebody_guesses() {
        let gate = Gate::new(true, "", 2);
        let of = |name: &str, password: &str| Credentials { name: Some(name.to_owned()), password: password.into() };
        let is_admitted = |given: Credentials| gate.admit(Some(&given)).is_ok();
        gate.known.remember(&of("alice", "right"));
        gate.known.remember(&of("bob", "b"));
        gate.wrong();
        assert!(is_admitted(of("eve", "a")));
        gate.wrong();
        assert!(!is_admitted(of("eve", "a")) && gate.admit(None).is_err());
        assert!(is_admitted(of("alice", "right")) && is_admitted(of("alice", "right")));
        assert!(!is_admitted(of("alice", "guess")));
        assert!(!is_admitted(of("alice", "right")), "else guesses would be told from it, at any speed");
        assert!(is_admitted(of("bob", "b")), "nobody has guessed for that name");
        gate.known.forget(&of("bob", "b"));
        assert!(!is_admitted(of("bob", "b")), "it is wrong now");
    }
}
