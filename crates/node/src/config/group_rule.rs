//! Priority and deadline by topic, for publishers that cannot say them.

use lapwing_codec::Limits;
use lapwing_groups::Lane;
use serde::{Deserialize, Serialize};

use super::groups::check_filter;
use crate::error::NodeError;
use crate::signals::{self, Said};

/// What holds for messages of some topics that carry no such property themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupRule {
    /// Topic filters; one of them has to match.
    pub topics: Vec<String>,
    /// Which lane; none: the rule does not say.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// Deadline from the broker's ingress; none: the rule does not say.
    #[serde(default)]
    pub deadline_ms: Option<u64>,
}

/// A lane, as publishers and configurations name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Goes before all bulk.
    Critical,
    /// Everything else.
    Bulk,
}

impl From<Priority> for Lane {
    fn from(priority: Priority) -> Lane {
        match priority {
            Priority::Critical => Lane::Critical,
            Priority::Bulk => Lane::Bulk,
        }
    }
}

/// Longest deadline that a rule or a property may set: a day.
pub const DEADLINE_MS_MAX: u64 = signals::DEADLINE_MS_MAX;

impl GroupRule {
    /// Whether the rule is about messages of `topic`.
    pub fn fits(&self, topic: &str) -> bool {
        self.topics.iter().any(|filter| lapwing_codec::topic::matches(filter, topic))
    }

    /// What it says of a message, where the publisher says nothing.
    pub(crate) fn says(&self) -> Said {
        Said { lane: self.priority.map(Lane::from), deadline_us: self.deadline_ms.map(|ms| ms.saturating_mul(1000)) }
    }

    /// `at`: the path of this rule, `groups.NAME.rules.0`.
    pub(super) fn check(&self, at: &str) -> Result<(), NodeError> {
        if self.topics.is_empty() {
            return Err(NodeError::config(
                &format!("{at}.topics"),
                "is empty".to_owned(),
                "Name the topics it is about.",
            ));
        }
        for (index, filter) in self.topics.iter().enumerate() {
            check_filter(&format!("{at}.topics.{index}"), filter, &Limits::default())?;
        }
        if self.priority.is_none() && self.deadline_ms.is_none() {
            return Err(NodeError::config(
                at,
                "says nothing of its topics".to_owned(),
                "Give it a priority, a deadline, or both.",
            ));
        }
        match self.deadline_ms {
            Some(deadline_ms) if !(1..=DEADLINE_MS_MAX).contains(&deadline_ms) => {
                let what = format!("{deadline_ms} is not from 1 to {DEADLINE_MS_MAX}");
                Err(NodeError::config(&format!("{at}.deadline_ms"), what, "Set a number in this range."))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a rule say what stands in it, in the units of a group, and nothing else?
    #[test]
    fn a_rule_says_what_it_was_given() {
        let says = |json: &str| serde_json::from_str::<GroupRule>(json).unwrap().says();
        let both = says(r#"{"topics": ["a"], "priority": "critical", "deadline_ms": 250}"#);
        assert_eq!(both, Said { lane: Some(Lane::Critical), deadline_us: Some(250_000) });
        assert_eq!(says(r#"{"topics": ["a"], "priority": "bulk"}"#).or_rule(both), (Lane::Bulk, Some(250_000)));
    }
}
