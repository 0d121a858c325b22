//! What people are shown of the wall clock: days and times in UTC, as RFC 3339 writes them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment of the wall clock, in microseconds since 1970; before that, below 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(i64);

impl WallTime {
    /// Now; a clock that stands before 1970 shows its beginning.
    pub fn now() -> Self {
        WallTime::since_epoch(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    /// So many microseconds after 1970 began.
    pub fn of_us(at_us: i64) -> Self {
        WallTime(at_us)
    }

    /// So long after 1970 began; what lies behind all calendars is the last moment there is.
    pub fn since_epoch(since: Duration) -> Self {
        WallTime(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    /// `2026-11-26`.
    pub fn day(self) -> String {
        let (year, month, day) = civil(self.0.div_euclid(DAY_US));
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// `2026-11-26T20:00:51.123Z`.
    pub fn with_ms(self) -> String {
        format!("{}.{:03}Z", self.to_second(), self.0.rem_euclid(1_000_000) / 1_000)
    }

    /// `2026-11-26T20:00:51.123456Z`.
    pub fn with_us(self) -> String {
        format!("{}.{:06}Z", self.to_second(), self.0.rem_euclid(1_000_000))
    }

    fn to_second(self) -> String {
        let second = self.0.rem_euclid(DAY_US) / 1_000_000;
        format!("{}T{:02}:{:02}:{:02}", self.day(), second / 3_600, second / 60 % 60, second % 60)
    }
}

const DAY_US: i64 = 86_400_000_000;

/// Year, month and day, `days` after 1970-01-01, by counting from a 1st of March: so the odd day of a leap year is the last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are times those that other tools give (date -u -d @SECONDS)?
    #[test]
    fn times_are_of_the_calendar() {
        for (at_us, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_399_000_001, "2000-02-28T23:59:59.000001Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (1_709_251_199_999_999, "2024-02-29T23:59:59.999999Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(WallTime::of_us(at_us).with_us(), text);
            assert_eq!(WallTime::of_us(at_us).with_ms(), format!("{}Z", &text[..23]));
            assert_eq!(WallTime::of_us(at_us).day(), text[..10]);
        }
    }

    /// Is time since the epoch the same time, and one that no calendar has the last?
    #[test]
    fn what_is_after_the_last_moment_is_the_last() {
        assert_eq!(WallTime::since_epoch(Duration::from_millis(1_500)).with_ms(), "1970-01-01T00:00:01.500Z");
        assert_eq!(WallTime::since_epoch(Duration::MAX), WallTime::of_us(i64::MAX));
        assert!(WallTime::now() > WallTime::of_us(0));
    }
}
