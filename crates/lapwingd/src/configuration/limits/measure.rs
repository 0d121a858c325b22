//! What a rule begins with: a number that follows from the whole configuration, and the parts of its words.

use serde_json::Value as Json;

use super::pair::{BoundRule, Measure};
use super::topics;
use super::values::{Found, Values, filled, pattern, show_key};
use crate::configuration::units;

/// A number, and the parts of its words.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub value: i128,
    /// Of a sum.
    pub parts: Vec<String>,
    /// The limit that was measured.
    pub key: String,
    /// With its unit.
    pub shown: String,
    /// What needs so much.
    pub place: String,
}

impl Measured {
    /// What a name in braces stands for; None: nothing.
    pub(super) fn named(&self, name: &str) -> Option<String> {
        match name {
            "key" => Some(self.key.clone()),
            "shown" => Some(self.shown.clone()),
            "value" => Some(self.value.to_string()),
            "where" => Some(self.place.clone()),
            part => self.parts.get(part.parse::<usize>().ok()?).cloned(),
        }
    }
}

/// What `rule` begins with; None: that is off.
pub(super) fn measured(values: &Values<'_>, rule: &BoundRule, entry: &str) -> Option<Measured> {
    let keys: Vec<Vec<String>> = rule.keys.iter().map(|key| filled(&pattern(key), entry)).collect();
    match rule.of {
        Measure::First => first(values, &keys),
        Measure::Sum => sum(values, &keys),
        Measure::Entries => {
            let count = keys.iter().map(|key| values.all(key).len()).sum::<usize>();
            Some(Measured { value: count as i128, ..Measured::default() })
        }
        Measure::LargestPacket => {
            let most = largest_packet(values)?;
            Some(Measured { value: most.into(), shown: units::show_size(most), ..Measured::default() })
        }
        Measure::TopicLevels => topics::longest(values, |topic| topic.matches('/').count() + 1),
        Measure::TopicBytes => topics::longest(values, str::len),
        Measure::LongestExpiry => longest_expiry(values),
    }
}

fn first(values: &Values<'_>, keys: &[Vec<String>]) -> Option<Measured> {
    let found: Found<'_> = keys.iter().filter_map(|key| values.one(key)).find(|found| found.number() != Some(0))?;
    Some(Measured { value: found.number()?, key: show_key(&found.names), shown: found.shown(), ..Measured::default() })
}

/// Texts count as their bytes.
fn sum(values: &Values<'_>, keys: &[Vec<String>]) -> Option<Measured> {
    let mut made = Measured::default();
    for key in keys {
        let found = values.one(key)?;
        let (number, shown) = match found.value {
            Json::String(text) => (text.len() as i128, text.len().to_string()),
            _ => (found.number()?, found.shown()),
        };
        made.value += number;
        made.parts.push(shown);
    }
    Some(made)
}

/// The largest packet that any listener takes, in bytes; None: the key is not the model's.
fn largest_packet(values: &Values<'_>) -> Option<i64> {
    let number = |key: &str| values.one(&pattern(key)).and_then(|found| found.value.as_i64());
    let most = number("limits.packet_bytes_max")?;
    let listeners = values.names("listeners");
    let own = listeners.iter().map(|at| number(&format!("listeners.{at}.packet_bytes_max")).unwrap_or(most));
    // Where there is [[listeners]], broker.listen is empty unless somebody has set it.
    let has_plain = listeners.is_empty() || !values.names("broker.listen").is_empty();
    own.chain(has_plain.then_some(most)).max()
}

/// The longest that any message may wait before it expires; None: there are some with no bound.
fn longest_expiry(values: &Values<'_>) -> Option<Measured> {
    let most = values.one(&pattern("limits.message_expiry_max"))?.number()?;
    let own = values.all(&pattern("topics.*.message_expiry_max"));
    let own: Vec<i128> = own.iter().filter_map(Found::number).collect();
    if most == 0 || own.contains(&0) {
        return None;
    }
    let longest = own.into_iter().fold(most, i128::max);
    let shown = units::show_duration_ms(i64::try_from(longest * 1_000).unwrap_or(i64::MAX));
    let place = if longest == most { "limits" } else { "[topics]" };
    Some(Measured { value: longest * 1_000, shown, place: place.into(), ..Measured::default() })
}
