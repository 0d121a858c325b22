//! Timers and limits of one client, as the specification recommends them (7.2).

use crate::Limits;

/// The same for all clients of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What one datagram may be.
    pub limits: Limits,
    /// T_retry: how long an answer is waited for, in milliseconds (10 to 15 s).
    pub retry_ms: u64,
    /// N_retry: how often a message is sent again before its client is lost (3 to 5).
    pub retries_max: u32,
    /// How long a message of QoS 2 that is over is remembered, in milliseconds, so that a late copy of it is none. Less than
    /// T_retry: who means a new message of the same id and content sends it again, and then it counts. The same of a CONNECT that
    /// was accepted for a clean session.
    pub linger_ms: u64,
    /// How many such messages of one client, at least 1; a copy that is later than so many others counts again.
    pub lingering_max: usize,
    /// Topics that one client may have registered, with those that were registered for it.
    pub registrations_max: u16,
    /// Bytes of a will's payload.
    pub will_bytes_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            limits: Limits::default(),
            retry_ms: 10_000,
            retries_max: 3,
            linger_ms: 5_000,
            lingering_max: 16,
            registrations_max: 256,
            will_bytes_max: 1024,
        }
    }
}
