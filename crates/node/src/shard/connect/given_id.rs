//! Client ids that the broker makes up for clients without one.

/// What they begin with; 32 hexadecimal digits follow.
const BEGIN: &str = "lapwing-";

/// The id of that number.
pub(in crate::shard) fn of(number: u128) -> String {
    format!("{BEGIN}{number:032x}")
}

/// Whether it is one of these: a rule that gives an identity its client ids does not know them, and whoever was given one
/// comes back with it. Nobody guesses another's, and a session belongs to its identity all the same.
pub(in crate::shard) fn is_given(client_id: &str) -> bool {
    let digits = client_id.strip_prefix(BEGIN).map(str::as_bytes).unwrap_or_default();
    digits.len() == 32 && digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_known_again() {
        assert!(is_given(&of(0)) && is_given(&of(u128::MAX)));
        for other in ["", "lapwing-", "lapwing-1", "device-00000000000000000000000000000000", "lapwing-bench-1"] {
            assert!(!is_given(other), "{other}");
        }
        assert!(!is_given(&of(10).to_uppercase()) && !is_given(&format!("{}0", of(1))));
    }
}
