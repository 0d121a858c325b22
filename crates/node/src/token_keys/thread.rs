//! The thread that fetches the keys of tokens.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use lapwing_access::{FetchedKeys, Tokens};
use lapwing_transport::{FetchError, FetchSettings, Fetcher};

use super::control::KeyControl;
use super::schedule::{Pace, Said, Schedule};
use crate::error::NodeError;
use crate::notices::NoticeKind;
use crate::shared::Shared;

/// So long it sleeps at most while there is somebody to ask: the metric of the keys' age follows.
const SLEEP_MAX: Duration = Duration::from_secs(10);

/// The thread's state; [`KeyThread::run`] is its life.
pub(crate) struct KeyThread {
    shared: Arc<Shared>,
    control: Arc<KeyControl>,
    /// Whom it asks; none where keys are in files, or no tokens are taken.
    source: Option<KeySource>,
}

struct KeySource {
    /// Whose keys it fetches.
    tokens: Arc<Tokens>,
    settings: FetchedKeys,
    fetcher: Result<Fetcher, FetchError>,
    schedule: Schedule,
}

/// How keys are fetched, as the room of sockets has it.
fn fetch_settings(keys: &FetchedKeys) -> FetchSettings {
    FetchSettings {
        url: keys.url.clone(),
        ca: keys.ca.clone(),
        plain: keys.plain,
        timeout: Duration::from_millis(keys.timeout_ms),
        bytes_max: keys.bytes_max,
    }
}

/// Whether the URL and its authorities can be used at all.
///
/// # Errors
/// `Config`: says why not.
pub(crate) fn check_fetched(keys: &FetchedKeys) -> Result<(), NodeError> {
    let remedy = "Give https://HOST/PATH, and in jwks_ca the authority of its certificate.";
    let error = |what: String| NodeError::config("auth.jwt.jwks_url", what, remedy);
    let times = [keys.refresh_ms, keys.retry_ms, keys.stale_ms_max, keys.timeout_ms, keys.bytes_max];
    if times.contains(&0) {
        return Err(error("has a time or a size of 0".into()));
    }
    Fetcher::new(&fetch_settings(keys)).map(|_| ()).map_err(|fault| error(fault.to_string()))
}

impl KeySource {
    /// Where to ask for `tokens`, which may be those of `former`, or such with other settings.
    fn of(former: Option<Self>, tokens: &Arc<Tokens>, settings: &FetchedKeys) -> Self {
        let former = former.filter(|former| former.tokens.shares_keys_with(tokens));
        let (tokens, fetcher) = (tokens.clone(), || Fetcher::new(&fetch_settings(settings)));
        match former {
            Some(former) if former.settings == *settings => KeySource { tokens, ..former },
            // Other bounds, or another authority: the keys that are there grow no younger by that.
            Some(former) => {
                let schedule = former.schedule.anew();
                KeySource { tokens, settings: settings.clone(), fetcher: fetcher(), schedule }
            }
            // Another place, or keys of another kind: none are there, and they are asked for at once.
            None => KeySource { tokens, settings: settings.clone(), fetcher: fetcher(), schedule: Schedule::default() },
        }
    }
}

impl KeyThread {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        KeyThread { shared: shared.clone(), control: shared.token_keys.clone(), source: None }
    }

    /// Works until the node stops it.
    pub(crate) fn run(mut self) {
        self.control.unpark.is_me();
        while !self.control.is_stopping() {
            match self.shared.authority.tokens() {
                Some(tokens) if tokens.fetched().is_some() => self.turn(&tokens),
                _ => {
                    self.source = None;
                    self.control.fetched_keys.store(0, Ordering::Relaxed);
                    // Woken when settings change, and when it is to end.
                    thread::park();
                }
            }
        }
    }

    fn turn(&mut self, tokens: &Arc<Tokens>) {
        let Some(settings) = tokens.fetched() else { return };
        let mut source = KeySource::of(self.source.take(), tokens, settings);
        if self.control.take_wanted() {
            source.schedule.want();
        }
        let pace =
            Pace { refresh_ms: settings.refresh_ms, retry_ms: settings.retry_ms, stale_ms_max: settings.stale_ms_max };
        if source.schedule.due_ms(pace) <= self.shared.now_ms() {
            self.fetch(&mut source, tokens);
        }
        let now_ms = self.shared.now_ms();
        if source.schedule.look(pace, now_ms) == Said::Stale {
            tokens.forget_keys();
            self.tell(format!(
                "keys of tokens from {} are older than {} s (auth.jwt.jwks_stale_max): no token is taken until there are new ones",
                shown(&source), settings.stale_ms_max / 1000
            ));
        }
        self.control.fetched_keys.store(tokens.keys().len() as u64, Ordering::Relaxed);
        self.control.age_ms.store(source.schedule.age_ms(now_ms), Ordering::Relaxed);
        let next_ms = source.schedule.stale_ms(pace).into_iter().fold(source.schedule.due_ms(pace), u64::min);
        self.source = Some(source);
        let sleep = Duration::from_millis(next_ms.saturating_sub(now_ms)).min(SLEEP_MAX);
        if !self.control.is_stopping() {
            thread::park_timeout(sleep);
        }
    }

    fn fetch(&self, source: &mut KeySource, tokens: &Tokens) {
        self.control.fetches.fetch_add(1, Ordering::Relaxed);
        let got = source.fetcher.as_ref().map_err(Clone::clone).and_then(Fetcher::get);
        let taken = got
            .map_err(|error| error.to_string())
            .and_then(|jwks| tokens.take_keys(&jwks).map_err(|what| format!("{}: {what}", shown(source))));
        let now_ms = self.shared.now_ms();
        match taken {
            Ok((keys, left_out)) => {
                if source.schedule.fetched(now_ms) == Said::Fetched {
                    let left = if left_out > 0 { format!(", {left_out} left out") } else { String::new() };
                    self.tell(format!("{keys} keys of tokens from {}{left}", shown(source)));
                }
            }
            Err(what) => {
                self.control.failures.fetch_add(1, Ordering::Relaxed);
                if source.schedule.failed(now_ms) == Said::Failing {
                    let keys = tokens.keys().len();
                    self.tell(format!("no new keys of tokens, the {keys} there are stay: {what}"));
                }
            }
        }
    }

    fn tell(&self, line: String) {
        self.shared.tell(NoticeKind::Other, line);
    }
}

fn shown(source: &KeySource) -> &str {
    source.fetcher.as_ref().map_or_else(|error| error.shown_url.as_str(), Fetcher::shown_url)
}
