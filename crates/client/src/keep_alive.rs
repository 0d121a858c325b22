//! When to ping, and when a broker that does not answer is given up.

use crate::error::ClientError;

/// Keep alive of one connection; times in milliseconds of any monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeepAlive {
    /// 0: off.
    interval_ms: u64,
    wrote_ms: u64,
    pinged_ms: Option<u64>,
}

impl KeepAlive {
    pub fn start(&mut self, keep_alive_s: u16, now_ms: u64) {
        *self = Self { interval_ms: u64::from(keep_alive_s) * 1000, wrote_ms: now_ms, pinged_ms: None };
    }

    /// The broker's Server Keep Alive replaces ours [MQTT-3.2.2-21].
    pub fn connected(&mut self, server_keep_alive_s: Option<u16>) {
        if let Some(seconds) = server_keep_alive_s {
            self.interval_ms = u64::from(seconds) * 1000;
        }
    }

    #[inline]
    pub fn wrote(&mut self, now_ms: u64) {
        self.wrote_ms = now_ms;
    }

    pub fn answered(&mut self) {
        self.pinged_ms = None;
    }

    pub fn next_ms(&self) -> Option<u64> {
        let since = self.pinged_ms.unwrap_or(self.wrote_ms);
        (self.interval_ms > 0).then(|| since + self.interval_ms)
    }

    /// True when a PINGREQ is due now (and counts as sent).
    pub fn wants_ping(&mut self, now_ms: u64) -> Result<bool, ClientError> {
        match (self.next_ms(), self.pinged_ms) {
            (Some(at), _) if now_ms < at => Ok(false),
            (None, _) => Ok(false),
            (_, Some(_)) => Err(ClientError::TimedOut { what: "PINGRESP", after_s: self.interval_ms as f64 / 1000.0 }),
            (_, None) => {
                (self.pinged_ms, self.wrote_ms) = (Some(now_ms), now_ms);
                Ok(true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ping after silence, none while there is traffic, and an end when nobody answers.
    #[test]
    fn pings_and_gives_up() -> Result<(), ClientError> {
        let mut keep_alive = KeepAlive::default();
        keep_alive.start(10, 0);
        keep_alive.wrote(5_000);
        assert!(!keep_alive.wants_ping(14_999)?);
        assert!(keep_alive.wants_ping(15_000)?);
        assert!(!keep_alive.wants_ping(24_999)?);
        keep_alive.answered();
        assert!(keep_alive.wants_ping(25_000)?);
        assert!(matches!(keep_alive.wants_ping(35_000), Err(ClientError::TimedOut { what: "PINGRESP", .. })));
        Ok(())
    }

    /// Is 0 off, and does the broker's wish win?
    #[test]
    fn off_and_overridden() {
        let mut keep_alive = KeepAlive::default();
        keep_alive.start(0, 0);
        assert_eq!(keep_alive.next_ms(), None);
        keep_alive.connected(Some(3));
        assert_eq!(keep_alive.next_ms(), Some(3000));
    }
}
