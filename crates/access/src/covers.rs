//! How two topic filters lie to each other: does one take in the other, do they meet?
//!
//! Both are walked level by level, once. Neither may be a shared filter: of `$share/GROUP/FILTER` compare FILTER.

/// Whether every topic that `filter` matches is matched by `pattern`.
///
/// Exact, for valid filters of any length, as if there were an empty topic (`/#` would match it); `$` topics count as [MQTT-4.7.2-1] says: a leading wildcard does not match
/// them, so `#` covers `+/a` and does not cover `$SYS/#`.
pub fn covers(pattern: &str, filter: &str) -> bool {
    if pattern == "+/#" && filter == "#" {
        // `a/#` matches `a` too, but before the first level there is nothing: these two match the same topics.
        return true;
    }
    if hides(pattern, filter) {
        return false;
    }
    let (mut wanted, mut permitted) = (filter.split('/'), pattern.split('/'));
    loop {
        match (permitted.next(), wanted.next()) {
            // `a/#` takes in `a`, and everything below.
            (Some("#"), _) | (None, None) => return true,
            (None, Some(_)) | (Some(_), None | Some("#")) => return false,
            (Some("+"), Some(_)) => {}
            (Some(level), Some(asked)) if level == asked => {}
            (Some(_), Some(_)) => return false,
        }
    }
}

/// Whether some topic is matched by both filters.
pub fn overlaps(one: &str, other: &str) -> bool {
    if hides(one, other) || hides(other, one) {
        return false;
    }
    let (mut one, mut other) = (one.split('/'), other.split('/'));
    loop {
        match (one.next(), other.next()) {
            (Some("#"), _) | (_, Some("#")) | (None, None) => return true,
            (None, Some(_)) | (Some(_), None) => return false,
            (Some("+"), Some(_)) | (Some(_), Some("+")) => {}
            (Some(a), Some(b)) if a == b => {}
            (Some(_), Some(_)) => return false,
        }
    }
}

/// Whether `filter` is about topics that begin with `$`, which `pattern` with its leading wildcard does not see.
fn hides(pattern: &str, filter: &str) -> bool {
    filter.starts_with('$') && pattern.starts_with(['+', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_codec::topic::matches;
    use proptest::prelude::*;

    #[test]
    fn a_pattern_covers_what_is_within_it() {
        for (pattern, filter, expected) in [
            ("a/b", "a/b", true),
            ("a/+", "a/b", true),
            ("a/+", "a/+", true),
            ("a/b", "a/+", false),
            ("a/#", "a", true),
            ("a/#", "a/+/c/#", true),
            ("a/+", "a/#", false),
            ("a/+/#", "a/#", false),
            ("#", "#", true),
            ("#", "+/x", true),
            ("+/#", "#", true),
            ("+/+/#", "#", false),
            ("#", "$SYS/#", false),
            ("+/x", "$SYS/x", false),
            ("$SYS/#", "$SYS/+", true),
            ("a", "a/b", false),
            ("a/b", "a", false),
            ("/+", "/", true),
        ] {
            assert_eq!(covers(pattern, filter), expected, "{pattern} over {filter}");
        }
    }

    #[test]
    fn filters_meet_where_a_topic_matches_both() {
        for (one, other, expected) in [
            ("a/+", "+/b", true),
            ("a/+", "b/+", false),
            ("a/#", "a", true),
            ("a/#", "+", true),
            ("#", "$SYS/#", false),
            ("$SYS/#", "$SYS/+/x", true),
            ("a/b/#", "a/+", true),
            ("a/b/#", "a", false),
        ] {
            assert_eq!((overlaps(one, other), overlaps(other, one)), (expected, expected), "{one} and {other}");
        }
    }

    /// Level names of the filters; topics have one more, that no filter names.
    const NAMES: [&str; 4] = ["a", "b", "", "$x"];

    fn filter() -> impl Strategy<Value = String> {
        let name = prop_oneof![4 => prop::sample::select(&NAMES[..]), 3 => Just("+")];
        (prop::collection::vec(name, 0..4), any::<bool>()).prop_map(|(mut levels, is_open)| {
            if is_open || levels.is_empty() || levels == [""] {
                levels.push("#");
            }
            levels.join("/")
        })
    }

    /// Every topic of up to four levels, one more than a filter has names; the empty one too, which `/#` would match.
    fn topics() -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let mut longest: Vec<String> = vec![String::new()];
        for depth in 0..4 {
            let names = NAMES.iter().chain(&["other"]);
            let next = names.flat_map(|name| longest.iter().map(move |head| (head, name)));
            longest = next
                .map(|(head, name)| if depth == 0 { (*name).to_owned() } else { format!("{head}/{name}") })
                .collect();
            all.extend(longest.iter().cloned());
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Neither more nor less than what trying every topic finds.
        #[test]
        fn as_trying_every_topic_says(one in filter(), other in filter()) {
            thread_local!(static TOPICS: Vec<String> = topics());
            TOPICS.with(|topics| {
                let of = |filter: &str| topics.iter().filter(|topic| matches(filter, topic)).collect::<Vec<_>>();
                let (in_one, in_other) = (of(&one), of(&other));
                prop_assert_eq!(covers(&one, &other), in_other.iter().all(|topic| matches(&one, topic)), "{} over {}", one, other);
                prop_assert_eq!(overlaps(&one, &other), in_one.iter().any(|topic| matches(&other, topic)), "{} and {}", one, other);
                Ok(())
            })?;
        }
    }
}
