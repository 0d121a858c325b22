//! One question to somebody else: what he is told, what becomes of his answer, what is counted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lapwing_access::{Answer, CacheKey, Identity, OutsideConfig, Refusal};
use lapwing_transport::{FetchError, FetchSettings, Fetcher};
use serde_json::json;

use super::asking::Memory;
use super::control::PasswordControl;
use super::feed::Secret;
use super::queue::Ask;
use super::thread::{Done, Worker, Wrong};
use crate::error::NodeError;
use crate::metrics::Metric;

/// Between two lines.
const PAUSE_MS: u64 = 10_000;

/// What is remembered of a question: who it is, or `None` for a refusal; nothing where nothing is.
pub(super) type Remembered = Option<Option<Identity>>;

/// Over whoever has this name the question panics: in builds with debug assertions, as tests are; no release has it.
#[cfg(debug_assertions)]
const PANIC_NAME: &str = "$fault/panic";

/// A panic here is over what somebody else has answered: nobody comes in by it, and who asks goes on, so that it costs no
/// place. The hook has told it on standard error.
fn no_panic(ask: impl FnOnce() -> Result<Answer, String>) -> Result<Answer, String> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| Err("a defect of the broker, told before this".into()))
}

/// Asks under one set of settings.
pub(super) struct Asker {
    pub(super) settings: Arc<OutsideConfig>,
    fetcher: Result<Fetcher, FetchError>,
    memory: Memory,
    /// What the memory's times are counted from.
    begun: Instant,
}

fn fetch_settings(settings: &OutsideConfig) -> FetchSettings {
    FetchSettings {
        url: settings.url.clone(),
        ca: settings.ca.clone(),
        plain: settings.plain,
        timeout: Duration::from_millis(settings.timeout_ms),
        bytes_max: settings.answer_bytes_max,
    }
}

/// Whether the URL and its authorities can be used at all.
///
/// # Errors
/// `Config`: says why not.
pub(crate) fn check_outside(settings: &OutsideConfig) -> Result<(), NodeError> {
    let remedy = "Give https://HOST/PATH, and in ca the authority of its certificate.";
    let error = |what: String| NodeError::config("auth.http.url", what, remedy);
    if settings.timeout_ms == 0 || settings.in_flight_max == 0 || settings.answer_bytes_max == 0 {
        return Err(error("has a time, number or size of 0".into()));
    }
    Fetcher::new(&fetch_settings(settings)).map(|_| ()).map_err(|fault| error(fault.to_string()))
}

impl Asker {
    pub(super) fn new(settings: Arc<OutsideConfig>) -> Self {
        let fetcher = Fetcher::new(&fetch_settings(&settings));
        let memory = Memory::new(settings.remembered_max as usize);
        Asker { settings, fetcher, memory, begun: Instant::now() }
    }

    pub(super) fn remembered_count(&self) -> usize {
        self.memory.with(|cache| cache.len()).unwrap_or(0)
    }

    pub(super) fn remembered(&self, ask: &Ask<Secret>) -> Option<Result<Identity, Refusal>> {
        let found = self.memory.get(&self.key(ask)?, self.now_ms())?;
        Some(found.ok_or(Refusal::BadCredentials))
    }

    fn now_ms(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    fn key(&self, ask: &Ask<Secret>) -> Option<CacheKey> {
        let outside = ask.item.outside.as_ref()?;
        let username = outside.has_username.then_some(ask.username.as_bytes());
        let parts = [
            Some(outside.client_id.as_bytes()),
            username,
            ask.item.password.as_deref(),
            Some(outside.address.as_bytes()),
            Some(outside.listener.as_bytes()),
        ];
        self.memory.with(|cache| cache.key(&parts))
    }

    /// Asks, remembers, and says what came of it.
    pub(super) fn ask(&self, number: usize, ask: Ask<Secret>, control: &PasswordControl) -> Done {
        let answered = no_panic(|| {
            let answer = self.answer(&ask)?;
            self.remember(&ask, &answer);
            Ok(answer)
        });
        control.outside.count(&answered);
        let result = match answered {
            Ok(Answer::Allow { identity, .. }) => Ok(identity),
            Ok(Answer::Deny { .. }) => Err(Wrong::Password(Refusal::BadCredentials)),
            Err(why) => Err(Wrong::Unanswered(why)),
        };
        Done { worker: Worker::Outside(number), ask, result }
    }

    fn answer(&self, ask: &Ask<Secret>) -> Result<Answer, String> {
        #[cfg(debug_assertions)]
        assert_ne!(&*ask.username, PANIC_NAME, "a fault of the test");
        let fetcher = self.fetcher.as_ref().map_err(ToString::to_string)?;
        let outside = ask.item.outside.as_ref().ok_or("nothing is known of the client")?;
        let username = outside.has_username.then_some(&*ask.username);
        let mut question = json!({
            "client_id": outside.client_id, "username": username, "password": null,
            "address": outside.address, "listener": outside.listener,
        });
        match ask.item.password.as_deref().map(std::str::from_utf8) {
            Some(Ok(password)) => question["password"] = password.into(),
            // MQTT lets a password be any bytes, and JSON does not.
            Some(Err(_)) => return Err("a password that is no text cannot be asked about".into()),
            None => {}
        }
        let authorization = self.settings.authorization.as_ref().map(|value| value.0.as_str());
        let body = fetcher.post(question.to_string().as_bytes(), authorization).map_err(|error| error.to_string())?;
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let answer = Answer::parse(&body, username, &self.settings.names, now_s);
        answer.map_err(|what| format!("{}: its answer {what}", fetcher.shown_url()))
    }

    fn remember(&self, ask: &Ask<Secret>, answer: &Answer) {
        let OutsideConfig { ttl_ms, ttl_ms_max, refused_ttl_ms, .. } = *self.settings;
        let (said_s, otherwise_ms, ends_s) = match answer {
            Answer::Allow { ttl_s, identity } => {
                (*ttl_s, ttl_ms, identity.grant().and_then(|grant| grant.expires_at_s))
            }
            Answer::Deny { ttl_s } => (*ttl_s, refused_ttl_ms, None),
        };
        // Who is let in for a time is asked about again when it is over.
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let left_ms = ends_s.map_or(u64::MAX, |end_s| end_s.saturating_sub(now_s).saturating_mul(1000));
        let ttl_ms = said_s.map_or(otherwise_ms, |seconds| seconds.saturating_mul(1000)).min(ttl_ms_max).min(left_ms);
        if let Some(key) = self.key(ask) {
            let now_ms = self.now_ms();
            self.memory.with(|cache| cache.insert(key, answer, ttl_ms, now_ms));
        }
    }
}

/// Written by those who ask, and by the thread that gives them their questions.
#[derive(Default)]
pub(super) struct OutsideCounters {
    allowed: AtomicU64,
    denied: AtomicU64,
    failed: AtomicU64,
    remembered: AtomicU64,
    waiting: AtomicU64,
    under_way: AtomicU64,
    known: AtomicU64,
}

impl OutsideCounters {
    fn count(&self, answered: &Result<Answer, String>) {
        let cell = match answered {
            Ok(Answer::Allow { .. }) => &self.allowed,
            Ok(Answer::Deny { .. }) => &self.denied,
            Err(_) => &self.failed,
        };
        cell.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_remembered(&self) {
        self.remembered.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn tell(&self, waiting: usize, under_way: usize, known: usize) {
        for (cell, value) in [(&self.waiting, waiting), (&self.under_way, under_way), (&self.known, known)] {
            cell.store(value as u64, Ordering::Relaxed);
        }
    }

    pub(super) fn collect(&self) -> Vec<Metric> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let help = "Questions to auth.http.url, by what came of them; those that failed let nobody in.";
        let checks = [("allowed", &self.allowed), ("denied", &self.denied), ("failed", &self.failed)];
        let mut metrics: Vec<Metric> = checks
            .into_iter()
            .map(|(label, counter)| {
                Metric::counter("lapwing_auth_http_checks_total", help, get(counter)).with("result", label)
            })
            .collect();
        metrics.extend([
            Metric::counter(
                "lapwing_auth_http_checks_remembered_total",
                "CONNECTs answered by what auth.http.url had said before.",
                get(&self.remembered),
            ),
            Metric::gauge(
                "lapwing_auth_http_checks_waiting",
                "CONNECTs that wait to be asked about.",
                get(&self.waiting),
            ),
            Metric::gauge(
                "lapwing_auth_http_checks_under_way",
                "Questions to auth.http.url under way.",
                get(&self.under_way),
            ),
            Metric::gauge("lapwing_auth_http_checks_known", "Answers that are remembered.", get(&self.known)),
        ]);
        metrics
    }
}

/// What the operator hears of questions without an answer: the first at once, then one line in ten seconds.
#[derive(Debug, Default)]
pub(super) struct OutsideWords {
    /// 0: nothing was told yet.
    told_ms: u64,
    failed: u64,
    last: Option<String>,
}

impl OutsideWords {
    pub(super) fn failed(&mut self, why: String) {
        self.failed += 1;
        self.last = Some(why);
    }

    /// The line that is due.
    pub(super) fn take(&mut self, now_ms: u64) -> Option<String> {
        if self.told_ms != 0 && now_ms < self.told_ms + PAUSE_MS {
            return None;
        }
        let why = self.last.take()?;
        self.told_ms = now_ms.max(1);
        let failed = std::mem::take(&mut self.failed);
        Some(format!("{failed} clients refused, because nobody could say who they are (auth.http): {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_at_once_and_then_counted() {
        let mut words = OutsideWords::default();
        words.failed("a".into());
        assert!(words.take(5).unwrap().starts_with("1 clients refused"));
        words.failed("b".into());
        words.failed("c".into());
        assert_eq!(words.take(10_004), None);
        let line = words.take(10_005).unwrap();
        assert!(line.starts_with("2 ") && line.ends_with(": c"), "{line}");
    }
}
