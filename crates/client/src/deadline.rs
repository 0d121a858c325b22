//! How long a call may take.

use std::time::{Duration, Instant};

use crate::error::ClientError;

/// How long behind its time a call goes on with what comes without a pause.
const HEARD_OUT: Duration = Duration::from_millis(250);

/// When a call gives up, and how long that was when it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    timeout: Duration,
}

impl Deadline {
    /// Longer than a year is as good as for ever.
    pub(crate) fn after(timeout: Duration) -> Self {
        let timeout = timeout.min(Duration::from_secs(366 * 86_400));
        Self { at: Instant::now() + timeout, timeout }
    }

    /// Whether to give up: its time is over and nothing `came`, or something comes all the while, for what is there already is
    /// heard out, but who floods holds nobody up.
    pub(crate) fn ends(self, came: bool) -> bool {
        let last = if came { self.at + HEARD_OUT } else { self.at };
        Instant::now() >= last
    }

    pub(crate) fn timed_out(self, what: &'static str) -> ClientError {
        ClientError::TimedOut { what, after_s: self.timeout.as_secs_f64() }
    }
}
