//! Does a filter match a topic name? The plain definition, level by level; the router has the fast one.

/// Whether a valid, ordinary (not shared) `filter` matches a valid `topic`.
///
/// A leading wildcard does not match a topic that begins with `$` [MQTT-4.7.2-1]; `a/#` matches `a` too.
pub fn matches(filter: &str, topic: &str) -> bool {
    if topic.starts_with('$') && filter.starts_with(['+', '#']) {
        return false;
    }
    let mut topic_levels = topic.split('/');
    for level in filter.split('/') {
        if level == "#" {
            return true;
        }
        match topic_levels.next() {
            Some(name) if level == "+" || level == name => {}
            _ => return false,
        }
    }
    topic_levels.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn filters_match_as_the_specification_says() {
        for (filter, topic, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/b/c", false),
            ("a/b/c", "a/b", false),
            ("a/+", "a/b", true),
            ("a/+", "a/", true),
            ("a/+", "a", false),
            ("+", "/a", false),
            ("+/+", "/a", true),
            ("/+", "/a", true),
            ("a/#", "a", true),
            ("a/#", "a/b/c", true),
            ("a/#", "ab", false),
            ("#", "a/b", true),
            ("#", "/", true),
            ("a/+/c", "a/b/c", true),
            ("a/+/c", "a//c", true),
            ("+/b/#", "a/b", true),
            ("#", "$SYS/x", false),
            ("+/x", "$SYS/x", false),
            ("$SYS/#", "$SYS/x", true),
            ("$SYS/+", "$SYS/x", true),
            ("a", "A", false),
        ] {
            assert_eq!(matches(filter, topic), expected, "{filter} against {topic}");
        }
    }
}
