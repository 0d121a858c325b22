//! Names with `*` in them: identities and streams of rules, names of groups.

/// Whether `name` is what `pattern` says, `*` standing for any characters, also none.
///
/// Two pointers and one place to go back to, so that no pattern costs more than the product of both lengths.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && pattern[p] == name[n] {
            p += 1;
            n += 1;
        } else if let Some((at, eaten)) = star {
            star = Some((at, eaten + 1));
            p = at + 1;
            n = eaten + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;
    use proptest::prelude::*;

    /// The definition, by recursion.
    fn naive(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => naive(rest, name) || (!name.is_empty() && naive(pattern, &name[1..])),
            ([p, pattern @ ..], [n, name @ ..]) => p == n && naive(pattern, name),
            _ => false,
        }
    }

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, expected) in [
            ("device-*", "device-7", true),
            ("device-*", "device-", true),
            ("device-*", "device", false),
            ("*", "", true),
            ("*-x-*", "a-x-b", true),
            ("*-x-*", "a-y-b", false),
            ("alice", "alice", true),
            ("alice", "alice2", false),
            ("ü*", "übung", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} against {name}");
        }
    }

    proptest! {
        #[test]
        fn as_the_definition_says(pattern in "[ab*]{0,8}", name in "[ab]{0,8}") {
            prop_assert_eq!(matches(&pattern, &name), naive(pattern.as_bytes(), name.as_bytes()));
        }
    }
}
