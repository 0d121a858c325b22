//! Days and times of the wall clock, UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY_S: u64 = 86_400;

/// Since 1970.
pub(crate) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// `2026-11-26T20:00:51.123Z`.
pub(crate) fn time_text(since: Duration) -> String {
    let (day, second) = (day_text(since), since.as_secs() % DAY_S);
    let (hour, minute, second, ms) = (second / 3_600, second / 60 % 60, second % 60, since.subsec_millis());
    format!("{day}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// `2026-11-26`.
pub(crate) fn day_text(since: Duration) -> String {
    let (year, month, day) = date(since.as_secs() / DAY_S);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The date of a day since 1970, by years that begin in March, so that a leap day is the last of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (days, shown) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_783, "2026-11-26")] {
            assert_eq!(day_text(Duration::from_secs(days * DAY_S)), shown);
        }
        assert_eq!(time_text(Duration::from_millis(1_500)), "1970-01-01T00:00:01.500Z");
    }
}
