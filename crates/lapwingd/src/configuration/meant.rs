//! The key that somebody may have meant who wrote one that is none.

/// Of a longer key nobody guesses what was meant.
const GUESSED_CHARACTERS_MAX: usize = 64;

/// The nearest of `known`; None: none is near.
pub(super) fn meant<'k>(written: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let length = written.chars().count();
    if length > GUESSED_CHARACTERS_MAX {
        return None;
    }
    let near = known.map(|key| (changes(written, key), key)).min()?;
    (near.0 * 3 <= length).then_some(near.1)
}

/// Characters to be put in, taken out or changed (Levenshtein).
fn changes(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, c) in one.chars().enumerate() {
        let mut before = row[0];
        row[0] = line + 1;
        for (column, d) in other.iter().enumerate() {
            let changed = before + usize::from(c != *d);
            before = row[column + 1];
            row[column + 1] = changed.min(before + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant() {
        let known = ["connections_max", "connect_timeout", "queue_age_max", "shards"];
        for (written, wanted) in [
            ("conection_max", Some("connections_max")),
            ("shard", Some("shards")),
            ("queue_age_mx", Some("queue_age_max")),
            ("grenze_ü", None),
            ("x", None),
        ] {
            assert_eq!(meant(written, known.into_iter()), wanted, "{written}");
        }
        assert_eq!(meant(&"x".repeat(65), known.into_iter()), None);
        assert_eq!((changes("", "abc"), changes("kitten", "sitting"), changes("a", "a")), (3, 3, 0));
    }
}
