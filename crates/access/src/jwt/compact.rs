//! A token in its compact form (RFC 7515, 7.1): three parts of base64url with points between them.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value};

use super::algorithm::Algorithm;
use super::fault::TokenFault;

/// No token is as short as this: an empty header alone has as many.
const SHOWN_BYTES_MAX: usize = 24;
/// The longest name of a key that is compared.
const KEY_ID_BYTES_MAX: usize = 1024;

/// A token, taken apart; nothing of it is proved.
pub(super) struct Compact<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) key_id: Option<String>,
    /// What is signed.
    pub(super) message: &'a [u8],
    pub(super) signature: Vec<u8>,
    claims: &'a str,
}

/// Whether a password looks like a token: it begins as `{` does in base64url, with a quote or a blank behind it, and has two
/// points. Cheap, and says nothing of what is in it.
pub fn is_token_shaped(password: &[u8]) -> bool {
    let is_in_place = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=');
    begins_as_object(password)
        && password.iter().filter(|byte| **byte == b'.').count() == 2
        && password.iter().all(is_in_place)
}

/// Whether a name may be a token, whole or in part: then it is not shown.
pub fn may_be_token(name: &str) -> bool {
    begins_as_object(name.as_bytes()) && name.len() >= SHOWN_BYTES_MAX && name.contains('.')
}

fn begins_as_object(text: &[u8]) -> bool {
    text.starts_with(b"ey") || text.starts_with(b"ew")
}

impl<'a> Compact<'a> {
    /// Takes a token of at most `bytes_max` apart.
    pub(super) fn parse(token: &'a [u8], bytes_max: usize) -> Result<Self, TokenFault> {
        if token.len() > bytes_max {
            return Err(TokenFault::TooLong);
        }
        let text = std::str::from_utf8(token).map_err(|_| TokenFault::Malformed)?;
        let (message, signature) = text.rsplit_once('.').ok_or(TokenFault::Malformed)?;
        let (header, claims) = message.split_once('.').ok_or(TokenFault::Malformed)?;
        let header = object(header)?;
        // RFC 7515, 4.1.11: who does not understand what must be understood refuses; we understand no extension.
        if header.contains_key("crit") {
            return Err(TokenFault::Algorithm);
        }
        let name = header.get("alg").and_then(Value::as_str).ok_or(TokenFault::Malformed)?;
        let algorithm = Algorithm::from_name(name).ok_or(TokenFault::Algorithm)?;
        let key_id = match header.get("kid") {
            None => None,
            Some(Value::String(id)) if id.len() <= KEY_ID_BYTES_MAX => Some(id.clone()),
            Some(_) => return Err(TokenFault::Malformed),
        };
        let signature = decode(signature)?;
        Ok(Compact { algorithm, key_id, message: message.as_bytes(), signature, claims })
    }

    /// What it says; to be asked for once its signature holds.
    pub(super) fn claims(&self) -> Result<Map<String, Value>, TokenFault> {
        object(self.claims)
    }
}

fn decode(part: &str) -> Result<Vec<u8>, TokenFault> {
    // Strict: no padding, no other alphabet, no bits left over; each token has one spelling.
    BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| TokenFault::Malformed)
}

fn object(part: &str) -> Result<Map<String, Value>, TokenFault> {
    serde_json::from_slice(&decode(part)?).map_err(|_| TokenFault::Malformed)
}
