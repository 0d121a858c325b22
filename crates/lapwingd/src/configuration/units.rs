//! Sizes and durations as people write them: `lapwing.config.units` has the same, and says why.

const SIZES: [(&str, u64); 11] = [
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];
const DURATIONS_MS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Bytes of `64MiB`, `1.5 GB` or `4096`; None: no size.
pub(crate) fn size(text: &str) -> Option<i64> {
    let (number, rest) = number(text.trim())?;
    let unit = rest.trim_start();
    let (_, bytes) = SIZES.iter().find(|(name, _)| *name == unit)?;
    times(number, *bytes)
}

/// Milliseconds of `24h`, `1h30m`, `500ms` or `0`; None: no duration. What is over is rounded once, for all parts together.
pub(crate) fn duration_ms(text: &str) -> Option<i64> {
    if text == "0" {
        return Some(0);
    }
    let mut rest = text.trim();
    let mut sum = if rest.is_empty() { None } else { Some(0.0) };
    while !rest.is_empty() {
        let (found, behind) = number(rest)?;
        let behind = behind.trim_start();
        let letters = behind.len() - behind.trim_start_matches(|unit: char| unit.is_ascii_lowercase()).len();
        let (_, ms) = DURATIONS_MS.iter().find(|(name, _)| *name == &behind[..letters])?;
        sum = Some(sum? + found.parse::<f64>().ok()? * *ms as f64);
        rest = behind[letters..].trim_start();
    }
    rounded(sum?)
}

/// The shortest exact spelling of so many bytes: `64MiB`, `1500B`.
pub(crate) fn show_size(bytes: i64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes != 0 && bytes % (1 << shift) == 0) {
        Some((unit, shift)) => format!("{}{unit}", bytes >> shift),
        None => format!("{bytes}B"),
    }
}

/// The shortest exact spelling of a duration: `24h`, `1500ms`; 24 h stays hours, as people say it.
pub(crate) fn show_duration_ms(ms: i64) -> String {
    const DAY_MS: i64 = 86_400_000;
    if ms == 0 {
        return "0s".into();
    }
    let units: &[(&str, i64)] = match ms % DAY_MS != 0 || ms == DAY_MS {
        true => &[("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)],
        false => &[("d", DAY_MS)],
    };
    let shown = units.iter().find(|(_, unit)| ms % unit == 0).map(|(name, unit)| format!("{}{name}", ms / unit));
    shown.unwrap_or_default()
}

/// A number at the beginning of a text, with a decimal point or without, and what follows.
fn number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let is_one = match number.split_once('.') {
        Some((whole, part)) => !whole.is_empty() && !part.is_empty() && !part.contains('.'),
        None => !number.is_empty(),
    };
    is_one.then_some((number, rest))
}

/// A number of units; None: more than the node holds.
fn times(number: &str, unit: u64) -> Option<i64> {
    if !number.contains('.') {
        return number.parse::<i64>().ok()?.checked_mul(i64::try_from(unit).ok()?);
    }
    rounded(number.parse::<f64>().ok()? * unit as f64)
}

/// To the nearest, as Python does it; None: more than the node holds.
fn rounded(number: f64) -> Option<i64> {
    let nearest = number.round_ties_even();
    (nearest < i64::MAX as f64).then_some(nearest as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each unit what its name says, and what could be either of two refused?
    #[test]
    fn sizes() {
        for (text, bytes) in
            [("64MiB", 64 << 20), ("64MB", 64_000_000), ("4096", 4096), ("1.5 GB", 1_500_000_000), ("0", 0)]
        {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for text in ["64M", "", "MiB", "-1", "1.MiB", "1..2MB", "99999999999TiB", "1 2"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    /// Is a number shown in the largest unit that it is a whole number of?
    #[test]
    fn numbers_with_their_units() {
        for (bytes, shown) in
            [(64 << 20, "64MiB"), (1_500, "1500B"), (0, "0B"), (1 << 40, "1TiB"), (1_536 << 10, "1536KiB")]
        {
            assert_eq!(show_size(bytes), shown);
        }
        for (ms, shown) in [
            (86_400_000, "24h"),
            (172_800_000, "2d"),
            (5_400_000, "90m"),
            (1_500, "1500ms"),
            (0, "0s"),
            (30_000, "30s"),
        ] {
            assert_eq!(show_duration_ms(ms), shown);
        }
    }

    #[test]
    fn durations() {
        for (text, ms) in [
            ("24h", 86_400_000),
            ("1h30m", 5_400_000),
            ("500ms", 500),
            ("0", 0),
            ("1.5s", 1_500),
            ("1h 5m", 3_900_000),
            ("0.5ms", 0),
            ("0.4ms0.4ms", 1),
        ] {
            assert_eq!(duration_ms(text), Some(ms), "{text}");
        }
        for text in ["30", "", "s", " 0 ", "1w", "1h30", "-1s", "9999999999999d"] {
            assert_eq!(duration_ms(text), None, "{text}");
        }
    }
}
