//! What a publisher says of a message: how urgent it is, and by when it should be finished.

use lapwing_codec::UserProperties;
use lapwing_groups::Lane;

use super::number::number;

/// Longest deadline that may be set: a day, in milliseconds.
pub(crate) const DEADLINE_MS_MAX: u64 = 24 * 3600 * 1000;

/// How the two user properties of a PUBLISH are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SaidBy<'a> {
    /// The one with the deadline in milliseconds.
    pub(crate) deadline: &'a str,
    /// The one with `critical` or `bulk`.
    pub(crate) priority: &'a str,
}

/// What is said of a message, by its publisher or by a group's rule; `None`: not said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Its lane.
    pub(crate) lane: Option<Lane>,
    /// How long after its ingress it should be finished, in microseconds.
    pub(crate) deadline_us: Option<u64>,
}

impl Said {
    /// What the publisher says: to be read once for a message, whatever number of groups get it. Of several properties of
    /// one name the last that can be read stands.
    ///
    /// Also returns how many values could not be read and are ignored. Allocates nothing.
    pub(crate) fn in_publish(user: &UserProperties<'_>, names: SaidBy<'_>) -> (Said, u32) {
        let (mut said, mut ignored) = (Said::default(), 0);
        for (name, value) in user {
            let is_read = if name == names.deadline {
                let deadline_us = deadline_us_of(value);
                said.deadline_us = deadline_us.or(said.deadline_us);
                deadline_us.is_some()
            } else if name == names.priority {
                let lane = lane_of(value);
                said.lane = lane.or(said.lane);
                lane.is_some()
            } else {
                true
            };
            ignored += u32::from(!is_read);
        }
        (said, ignored)
    }

    /// What holds in a group whose first rule for the message's topic says `rule`: that speaks where the publisher does not.
    pub(crate) fn or_rule(self, rule: Said) -> (Lane, Option<u64>) {
        (self.lane.or(rule.lane).unwrap_or(Lane::Bulk), self.deadline_us.or(rule.deadline_us))
    }

    /// Whether a rule has nothing to add.
    pub(crate) fn is_complete(self) -> bool {
        self.lane.is_some() && self.deadline_us.is_some()
    }
}

fn deadline_us_of(text: &str) -> Option<u64> {
    number(text, 1..=DEADLINE_MS_MAX).map(|ms| ms * 1000)
}

fn lane_of(text: &str) -> Option<Lane> {
    match text {
        "critical" => Some(Lane::Critical),
        "bulk" => Some(Lane::Bulk),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lapwing_codec::UserPropertiesBuf;

    use super::*;

    const NAMES: SaidBy<'static> = SaidBy { deadline: "lapwing-deadline-ms", priority: "lapwing-priority" };
    const NOTHING: Said = Said { lane: None, deadline_us: None };

    fn read(pairs: &[(&str, &str)], names: SaidBy<'_>) -> (Said, u32) {
        let mut user = UserPropertiesBuf::new();
        for (name, value) in pairs {
            user.push(name, value).unwrap();
        }
        Said::in_publish(&user.as_ref(), names)
    }

    /// Are lane and deadline read, up to the ends of their range, under the names set?
    #[test]
    fn a_publisher_is_understood() {
        let of = |name, value| read(&[("x", "y"), (name, value)], NAMES);
        assert_eq!(of("lapwing-priority", "critical"), (Said { lane: Some(Lane::Critical), ..NOTHING }, 0));
        assert_eq!(of("lapwing-priority", "bulk"), (Said { lane: Some(Lane::Bulk), ..NOTHING }, 0));
        assert_eq!(of("lapwing-deadline-ms", "1"), (Said { deadline_us: Some(1_000), ..NOTHING }, 0));
        assert_eq!(of("lapwing-deadline-ms", "86400000"), (Said { deadline_us: Some(86_400_000_000), ..NOTHING }, 0));
        let own = SaidBy { deadline: "ttl", priority: "prio" };
        let said = Said { lane: Some(Lane::Critical), deadline_us: Some(250_000) };
        assert_eq!(read(&[("ttl", "250"), ("prio", "critical"), ("lapwing-priority", "?")], own), (said, 0));
    }

    /// Is each wrong value as if it were not there, and counted?
    #[test]
    fn wrong_values_are_ignored_and_counted() {
        for (name, value) in [
            ("lapwing-priority", "Critical"),
            ("lapwing-priority", ""),
            ("lapwing-deadline-ms", "0"),
            ("lapwing-deadline-ms", "86400001"),
            ("lapwing-deadline-ms", "250ms"),
            ("lapwing-deadline-ms", "-1"),
        ] {
            assert_eq!(read(&[(name, value)], NAMES), (NOTHING, 1), "{name}={value}");
        }
        let (said, ignored) =
            read(&[("lapwing-deadline-ms", "5"), ("lapwing-deadline-ms", "6"), ("lapwing-deadline-ms", "x")], NAMES);
        assert_eq!((said.deadline_us, ignored), (Some(6_000), 1));
    }

    /// Does a rule speak where the publisher does not, for each of the two by itself?
    #[test]
    fn the_publisher_goes_before_the_rule() {
        let rule = Said { lane: Some(Lane::Critical), deadline_us: Some(9) };
        let bulk = Said { lane: Some(Lane::Bulk), ..NOTHING };
        let soon = Said { deadline_us: Some(3), ..NOTHING };
        assert_eq!(NOTHING.or_rule(NOTHING), (Lane::Bulk, None));
        assert_eq!(NOTHING.or_rule(rule), (Lane::Critical, Some(9)));
        assert_eq!(bulk.or_rule(rule), (Lane::Bulk, Some(9)));
        assert_eq!(soon.or_rule(rule), (Lane::Critical, Some(3)));
        assert_eq!((soon.is_complete(), bulk.is_complete(), rule.is_complete()), (false, false, true));
    }
}
