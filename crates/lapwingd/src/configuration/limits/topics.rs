//! What limits of topics are held against: all topics and filters that a configuration names, as
//! `lapwing.config.limit_topics` lists them.

use serde::Deserialize;

use super::measure::Measured;
use super::values::{Found, Values, pattern, show_key};

/// Where topics, or filters for which something is configured, stand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TopicPlace {
    pub path: String,
    pub shown: usize,
    #[serde(default)]
    pub is_name: bool,
    #[serde(default)]
    pub fills_in: bool,
    #[serde(default)]
    pub needs: Option<(String, String)>,
}

/// What the shortest topics that match need, so that every filter of the configuration can match one; None: it names none.
pub(super) fn longest(values: &Values<'_>, measure: fn(&str) -> usize) -> Option<Measured> {
    let found = values.topic_places().iter().flat_map(|place| topics(values, place));
    let (most, place) = found.map(|(topic, place)| (measure(&topic), place)).max()?;
    Some(Measured { value: most as i128, place, ..Measured::default() })
}

/// The shortest topic of each, and where it stands.
fn topics(values: &Values<'_>, place: &TopicPlace) -> Vec<(String, String)> {
    let path = pattern(&place.path);
    let counts = |names: &[String]| match &place.needs {
        None => true,
        Some((key, wanted)) => {
            let mut entries = names.iter().zip(&path).filter(|(_, part)| *part == "*").map(|(name, _)| name);
            let parts = pattern(key).into_iter();
            let key: Option<Vec<String>> =
                parts.map(|part| if part == "*" { entries.next().cloned() } else { Some(part) }).collect();
            key.and_then(|key| values.one(&key)).is_some_and(|found| found.value.as_str() == Some(wanted))
        }
    };
    let found = values.all(&path).into_iter().filter(|found| counts(&found.names));
    let topic = |found: &Found<'_>| match place.is_name {
        true => found.names.last().cloned(),
        false => found.value.as_str().map(str::to_owned),
    };
    found
        .filter_map(|found| {
            let topic = topic(&found)?;
            Some((shortest(&topic, place.fills_in), show_key(&found.names[..place.shown])))
        })
        .collect()
}

/// `#` matches its parent, and a level may be empty.
fn shortest(topic: &str, fills_in: bool) -> String {
    let topic = if fills_in { filled_with_nothing(topic) } else { topic.to_owned() };
    let topic = topic.strip_suffix('#').unwrap_or(&topic);
    topic.strip_suffix('/').unwrap_or(topic).replace('+', "")
}

/// `%c` and `%u` are gone, `%%` is one.
fn filled_with_nothing(topic: &str) -> String {
    let mut made = String::new();
    let mut rest = topic.chars();
    while let Some(c) = rest.next() {
        let next = rest.clone().next();
        if c != '%' || !matches!(next, Some('c' | 'u' | '%')) {
            made.push(c);
            continue;
        }
        rest.next();
        made.extend(next.filter(|next| *next == '%'));
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_topic_that_matches() {
        for (filter, fills_in, topic) in [
            ("a/+/c/#", false, "a//c"),
            ("#", false, ""),
            ("a/%c/%u/%%c", true, "a///%c"),
            ("a/%c", false, "a/%c"),
            ("100%", true, "100%"),
        ] {
            assert_eq!(shortest(filter, fills_in), topic, "{filter}");
        }
    }
}
