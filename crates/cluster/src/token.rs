//! What one node hands another so that it may join: where to ask, how to know whom it asks, and a secret.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::bounds::ADDRESS_BYTES_MAX;
use crate::ids::SecretHash;

/// What every token begins with.
const PREFIX: &str = "lapwing1-";
const AUTHORITY_BYTES: usize = 32;
const SECRET_BYTES: usize = 32;
const CHECK_BYTES: usize = 4;
const FIXED_BYTES: usize = AUTHORITY_BYTES + SECRET_BYTES + CHECK_BYTES;

/// For one node and one hour. Its text is as good as a password: `Debug` shows the address alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// A member, `HOST:PORT`.
    pub address: String,
    /// SHA-256 of the certificate of the cluster's authority: who answers there under another one is somebody else.
    pub authority: [u8; AUTHORITY_BYTES],
    /// Drawn at random.
    secret: [u8; SECRET_BYTES],
}

/// Why a text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TokenFault {
    /// It does not begin as one.
    #[error("this is no token: one begins with \"{PREFIX}\"; make one with `lapwing cluster token`")]
    NoToken,
    /// A letter is another one, or it is not whole.
    #[error("the token was mangled on its way: copy it as a whole, or make one with `lapwing cluster token`")]
    Mangled,
}

impl Token {
    /// Of these parts; the address is one that a member has.
    pub const fn new(address: String, authority: [u8; AUTHORITY_BYTES], secret: [u8; SECRET_BYTES]) -> Self {
        Token { address, authority, secret }
    }

    /// By which the cluster knows it.
    pub fn secret_hash(&self) -> SecretHash {
        SecretHash(Sha256::digest(self.secret).into())
    }

    /// The secret itself, for who is asked.
    pub const fn secret(&self) -> &[u8; SECRET_BYTES] {
        &self.secret
    }

    /// The text that people copy: one word, with a check in it.
    pub fn to_text(&self) -> String {
        let mut bytes = [&self.authority[..], &self.secret, self.address.as_bytes()].concat();
        let check = check_of(&bytes);
        bytes.extend_from_slice(&check);
        format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&bytes))
    }

    /// Reads it back; space around it does not count.
    ///
    /// # Errors
    /// It is none, or not as it was made.
    pub fn parse(text: &str) -> Result<Self, TokenFault> {
        let encoded = text.trim().strip_prefix(PREFIX).ok_or(TokenFault::NoToken)?;
        if encoded.len() > BASE64URL_NOPAD.encode_len(FIXED_BYTES + ADDRESS_BYTES_MAX) {
            return Err(TokenFault::Mangled);
        }
        let bytes = BASE64URL_NOPAD.decode(encoded.as_bytes()).map_err(|_| TokenFault::Mangled)?;
        let (said, check) = bytes.split_last_chunk::<CHECK_BYTES>().ok_or(TokenFault::Mangled)?;
        if check_of(said) != *check {
            return Err(TokenFault::Mangled);
        }
        let (authority, rest) = said.split_first_chunk::<AUTHORITY_BYTES>().ok_or(TokenFault::Mangled)?;
        let (secret, address) = rest.split_first_chunk::<SECRET_BYTES>().ok_or(TokenFault::Mangled)?;
        let address = std::str::from_utf8(address).map_err(|_| TokenFault::Mangled)?;
        Ok(Token { address: address.to_owned(), authority: *authority, secret: *secret })
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Against letters that were lost, not against anybody who means ill: that is what the secret is for.
fn check_of(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    [digest[0], digest[1], digest[2], digest[3]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        Token::new("north.example:1890".into(), [7; 32], [8; 32])
    }

    /// Does it come back, with the white space of a terminal around it, and is any other letter noticed?
    #[test]
    fn it_is_read_as_it_was_made_or_not_at_all() {
        let text = token().to_text();
        assert_eq!(Token::parse(&format!(" {text}\n")), Ok(token()));
        for place in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[place] = if other[place] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).expect("still ASCII");
            assert!(Token::parse(&other).is_err(), "{place}");
            assert!(Token::parse(&text[..place]).is_err(), "cut at {place}");
        }
    }

    /// Is what is long refused before it is read?
    #[test]
    fn a_long_one_is_none() {
        assert_eq!(Token::parse(&format!("{PREFIX}{}", "A".repeat(1 << 20))), Err(TokenFault::Mangled));
        assert_eq!(Token::parse("hello"), Err(TokenFault::NoToken));
    }

    /// Does a log show nothing by which one could join?
    #[test]
    fn its_secret_is_not_shown() {
        assert_eq!(format!("{:?}", token()), "Token { address: \"north.example:1890\", .. }");
        assert_ne!(token().secret_hash().0, [8; 32]);
    }
}
