//! What a member says of its load with an acknowledgement.

use lapwing_codec::UserProperties;
use lapwing_dispatch::Report;
use thiserror::Error;

use super::number::number;

const QUEUE: &str = "lapwing-queue";
const SERVICE_US: &str = "lapwing-service-us";
const RATE: &str = "lapwing-rate";
const WATERMARK: &str = "lapwing-watermark";

/// A user property of an acknowledgement that cannot be read; nothing of the report is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the user property {name} cannot be read")]
pub(crate) struct BadProperty {
    /// Which it was.
    pub(crate) name: &'static str,
}

/// The report in the user properties of a PUBACK or PUBCOMP; of several of one name the last stands.
///
/// `None`: there is none. Allocates nothing, and costs nothing where there are no properties.
pub(crate) fn in_acknowledgement(user: &UserProperties<'_>) -> Option<Result<Report, BadProperty>> {
    let mut found: Option<Report> = None;
    for (name, value) in user {
        match take(found.unwrap_or_default(), name, value) {
            None => {}
            Some(Ok(report)) => found = Some(report),
            Some(Err(bad)) => return Some(Err(bad)),
        }
    }
    found.map(Ok)
}

/// `report` with one property more; `None` if that is not one of ours.
fn take(report: Report, name: &str, value: &str) -> Option<Result<Report, BadProperty>> {
    let count = number(value, 0..=u64::MAX);
    let (name, read) = match name {
        QUEUE => (QUEUE, count.map(|queue| Report { queue: Some(queue), ..report })),
        SERVICE_US => (SERVICE_US, count.map(|service_us| Report { service_us: Some(service_us), ..report })),
        RATE => (RATE, count.map(|rate| Report { rate_per_s: Some(rate), ..report })),
        WATERMARK => (WATERMARK, is_paused(value).map(|paused| Report { is_paused: Some(paused), ..report })),
        _ => return None,
    };
    Some(read.ok_or(BadProperty { name }))
}

/// Above the high watermark a member wants nothing until it is below the low one.
pub(super) fn is_paused(watermark: &str) -> Option<bool> {
    match watermark {
        "high" => Some(true),
        "low" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lapwing_codec::UserPropertiesBuf;

    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Option<Result<Report, BadProperty>> {
        let mut user = UserPropertiesBuf::new();
        for (name, value) in pairs {
            user.push(name, value).unwrap();
        }
        in_acknowledgement(&user.as_ref())
    }

    const NOTHING: Report = Report { queue: None, service_us: None, rate_per_s: None, is_paused: None };

    /// Is each figure understood, alone and all together, among properties that are none of ours?
    #[test]
    fn a_report_is_read() {
        for (name, value, expected) in [
            ("lapwing-queue", "0", Report { queue: Some(0), ..NOTHING }),
            ("lapwing-service-us", "20000", Report { service_us: Some(20_000), ..NOTHING }),
            ("lapwing-rate", "48", Report { rate_per_s: Some(48), ..NOTHING }),
            ("lapwing-watermark", "high", Report { is_paused: Some(true), ..NOTHING }),
            ("lapwing-watermark", "low", Report { is_paused: Some(false), ..NOTHING }),
        ] {
            assert_eq!(read(&[("trace", "x"), (name, value), ("lapwing-else", "?")]), Some(Ok(expected)), "{name}");
        }
        let all = [
            ("lapwing-queue", "12"),
            ("lapwing-service-us", "20000"),
            ("lapwing-rate", "48"),
            ("lapwing-watermark", "high"),
            ("lapwing-queue", "13"),
        ];
        let expected =
            Report { queue: Some(13), service_us: Some(20_000), rate_per_s: Some(48), is_paused: Some(true) };
        assert_eq!(read(&all), Some(Ok(expected)));
    }

    #[test]
    fn no_report_is_told_from_an_empty_one() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[("trace", "x"), ("lapwing-ack", "processed"), ("queue", "1")]), None);
    }

    /// Does one wrong figure spoil the report, and is it named?
    #[test]
    fn a_wrong_figure_is_named() {
        for (name, value) in [
            ("lapwing-queue", "-1"),
            ("lapwing-queue", "1.5"),
            ("lapwing-service-us", ""),
            ("lapwing-rate", "fast"),
            ("lapwing-rate", "18446744073709551616"),
            ("lapwing-watermark", "High"),
            ("lapwing-watermark", "1"),
        ] {
            let name_of = |pairs: &[(&str, &str)]| read(pairs).unwrap().unwrap_err().name;
            assert_eq!(name_of(&[(name, value)]), name, "{value}");
            assert_eq!(name_of(&[("lapwing-queue", "3"), (name, value), ("lapwing-rate", "5")]), name, "{value}");
        }
    }
}
