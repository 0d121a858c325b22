//! From when until when certificates hold.

use std::time::{Duration, SystemTime};

use crate::fault::Fault;

/// Days that an authority lasts: twenty years. Nothing replaces one while its cluster runs.
pub const AUTHORITY_DAYS: u64 = 20 * 365;
/// Days that a node's certificate lasts: five years. Who has it long before that asks for the next one.
pub const NODE_DAYS: u64 = 5 * 365;
/// Seconds by which a certificate is older than it is, for nodes whose clocks go behind.
pub const BACKDATED_S: u64 = 60 * 60;

const DAY_S: u64 = 24 * 60 * 60;
/// 2025-01-01: no clock that was ever set says less.
const EARLIEST_S: u64 = 1_735_689_600;
/// 9000-01-01, far from the last time that a certificate can say.
const LATEST_S: u64 = 221_845_392_000;

/// Two times, as seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    pub(crate) not_before_s: u64,
    pub(crate) not_after_s: u64,
}

impl Validity {
    /// Of what is made at `now` and lasts so many days.
    pub(crate) fn of_days(days: u64, now: SystemTime) -> Result<Self, Fault> {
        let now_s = now.duration_since(SystemTime::UNIX_EPOCH).map_err(|_| Fault::Clock)?.as_secs();
        if !(EARLIEST_S..=LATEST_S).contains(&now_s) {
            return Err(Fault::Clock);
        }
        Ok(Validity { not_before_s: now_s - BACKDATED_S, not_after_s: now_s + days * DAY_S })
    }

    /// The same, over when `end_s` is, at the latest.
    pub(crate) fn within(self, end_s: u64) -> Result<Self, Fault> {
        if end_s <= self.not_before_s + BACKDATED_S {
            return Err(Fault::AuthorityOver);
        }
        Ok(Validity { not_after_s: self.not_after_s.min(end_s), ..self })
    }

    /// Writes it into what a certificate is made of.
    pub(crate) fn set(self, params: &mut rcgen::CertificateParams) {
        let time = |seconds| rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds);
        params.not_before = time(self.not_before_s);
        params.not_after = time(self.not_after_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a clock that nobody has set, or that is centuries ahead, no clock?
    #[test]
    fn times_that_cannot_be_are_refused() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for wrong in [at(0), at(EARLIEST_S - 1), at(LATEST_S + 1), SystemTime::UNIX_EPOCH - Duration::from_secs(1)] {
            assert_eq!(Validity::of_days(1, wrong), Err(Fault::Clock));
        }
        let day = Validity::of_days(1, at(EARLIEST_S)).unwrap();
        assert_eq!((day.not_before_s, day.not_after_s), (EARLIEST_S - 3600, EARLIEST_S + 86_400));
        assert_eq!(day.within(EARLIEST_S + 10).map(|day| day.not_after_s), Ok(EARLIEST_S + 10));
        assert_eq!(day.within(u64::MAX), Ok(day));
        assert_eq!(day.within(EARLIEST_S), Err(Fault::AuthorityOver));
    }
}
