//! A client asks in its CONNECT to be told who has published what it receives.

use lapwing_codec::UserProperties;
use lapwing_session::ENVELOPE;

/// Whether it does, and how many values could not be read and are ignored.
pub(crate) fn asks_for_envelope(user: &UserProperties<'_>) -> (bool, u32) {
    let (mut asks, mut ignored) = (false, 0);
    for (_, value) in user.iter().filter(|(name, _)| *name == ENVELOPE) {
        match value {
            "1" => asks = true,
            "0" => asks = false,
            _ => ignored += 1,
        }
    }
    (asks, ignored)
}

#[cfg(test)]
mod tests {
    use lapwing_codec::UserPropertiesBuf;

    use super::*;

    /// Does the last value that can be read stand, and is every other one counted?
    #[test]
    fn the_last_readable_one_stands() {
        for (values, expected) in [
            (&[][..], (false, 0)),
            (&["1"], (true, 0)),
            (&["0"], (false, 0)),
            (&["1", "yes"], (true, 1)),
            (&["1", "0"], (false, 0)),
            (&["true", "", "2"], (false, 3)),
        ] {
            let mut user = UserPropertiesBuf::new();
            user.push("lapwing-envelopes", "1").unwrap();
            values.iter().for_each(|value| user.push("lapwing-envelope", value).unwrap());
            assert_eq!(asks_for_envelope(&user.as_ref()), expected, "{values:?}");
        }
    }
}
