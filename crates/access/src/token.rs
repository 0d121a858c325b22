//! Tokens: 256 random bits, of which the users keep SHA-256.
//!
//! A token needs no salt and no costly hash: nobody can try all of them. So it is checked in place, also per request.

use sha2::{Digest, Sha256};

/// How every token begins, so that people and scanners for leaked secrets know one when they see it.
pub(crate) const PREFIX: &[u8] = b"lapwing_";

/// What is kept of a token.
pub(crate) type Sha256Digest = [u8; 32];

/// What is kept of `token`, if it looks like one at all.
pub(crate) fn digest(token: &[u8]) -> Option<Sha256Digest> {
    token.starts_with(PREFIX).then(|| Sha256::digest(token).into())
}

/// Reads 64 hexadecimal digits.
pub(crate) fn parse_digest(text: &str) -> Option<Sha256Digest> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != 32 || !rest.is_empty() {
        return None;
    }
    let mut digest = Sha256Digest::default();
    for (byte, [high, low]) in digest.iter_mut().zip(pairs) {
        let digit = |c: u8| char::from(c).to_digit(16);
        *byte = u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gives_the_digest_that_other_tools_give() {
        // printf lapwing_example | sha256sum
        let expected = "c7b24938cb63fad52169c48c26e07561de033bf7cad35f4b3620e25487772d2f";
        assert_eq!(digest(b"lapwing_example"), parse_digest(expected));
        assert!(parse_digest(expected).is_some());
        assert_eq!(digest(b"no token"), None);
    }

    #[test]
    fn what_is_no_digest_is_none() {
        for text in ["", "00", &"g".repeat(64), &"0".repeat(63), &"0".repeat(65), &"é".repeat(32)] {
            assert_eq!(parse_digest(text), None, "{text}");
        }
    }
}
