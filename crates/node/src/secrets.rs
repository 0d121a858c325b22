//! Tokens in text that others chose. Who gives one for a user name, a client id or a topic has done so by mistake, and it is as
//! good as a password: it is hidden wherever such text is told: in the log, in events, in the audit trail, in the list of who is kept out.

use std::borrow::Cow;

use lapwing_access::may_be_token;
use serde_json::Value;

/// What every token begins with (`lapwing user token`), and how many of its characters make one.
const TOKEN: &str = "lapwing_";
const TOKEN_CHARACTERS: usize = 16;
/// What nearly every token that others sign (JWT) begins with: `{"` in base64url.
const JWT: &str = "eyJ";
/// What stands in its place.
pub(crate) const HIDDEN: &str = "***";

/// `text` with [`HIDDEN`] for every token in it, ours and JWT.
pub(crate) fn without_secrets(text: &str) -> Cow<'_, str> {
    match without_tokens(text) {
        Cow::Borrowed(text) => without_jwts(text),
        Cow::Owned(text) => Cow::Owned(without_jwts(&text).into_owned()),
    }
}

/// The same of all texts in `value`, the names of fields apart: those are ours.
pub(crate) fn without_secrets_in(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_secrets(&text).into_owned()),
        Value::Array(values) => values.into_iter().map(without_secrets_in).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, without_secrets_in(value))).collect(),
        other => other,
    }
}

fn without_tokens(text: &str) -> Cow<'_, str> {
    let mut parts = text.split(TOKEN);
    let first = parts.next().unwrap_or_default();
    if first.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let mut shown = first.to_owned();
    for part in parts {
        let is_of_token = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let rest = part.trim_start_matches(is_of_token);
        let is_token = part.len() - rest.len() >= TOKEN_CHARACTERS;
        shown.push_str(TOKEN);
        shown.push_str(if is_token { HIDDEN } else { part });
        shown.push_str(if is_token { rest } else { "" });
    }
    Cow::Owned(shown)
}

fn without_jwts(text: &str) -> Cow<'_, str> {
    let is_of_jwt = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !text.split(|c| !is_of_jwt(c)).any(|word| jwt_at(word).is_some()) {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while !rest.is_empty() {
        let word = &rest[..rest.len() - rest.trim_start_matches(is_of_jwt).len()];
        let between = rest[word.len()..].find(is_of_jwt).map_or(rest.len(), |length| word.len() + length);
        match jwt_at(word) {
            Some(at) => shown.extend([&word[..at], HIDDEN]),
            None => shown.push_str(word),
        }
        shown.push_str(&rest[word.len()..between]);
        rest = &rest[between..];
    }
    Cow::Owned(shown)
}

/// Where a JWT may begin in a word of its characters: at the front, or where something is put before one. What follows it in
/// the word cannot be told from it.
fn jwt_at(word: &str) -> Option<usize> {
    if may_be_token(word) {
        return Some(0);
    }
    word.find(JWT).filter(|at| may_be_token(&word[*at..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Is a token hidden wherever it stands, and any other text as it was?
    #[test]
    fn tokens_are_hidden() {
        let token = format!("lapwing_{}", "aB-_0".repeat(9));
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmVk";
        for (text, shown) in [
            (token.clone(), "lapwing_***"),
            (format!("u:{token}@{token} x"), "u:lapwing_***@lapwing_*** x"),
            (jwt.to_owned(), "***"),
            (format!("/v1/sessions/{jwt} ä{jwt}"), "/v1/sessions/*** ä***"),
            (format!("Bearer {jwt}"), "Bearer ***"),
            (format!("dev-{jwt}/{token}/x"), "dev-***/lapwing_***/x"),
        ] {
            assert_eq!(without_secrets(&text), shown);
        }
        for text in ["lapwing_demo", "Überwachung lapwing-1", "", "/v1/eye.html 10.0.0.1:80 ey.x", "they.eyJust"] {
            assert_eq!(without_secrets(text), text);
        }
        let nested = without_secrets_in(json!({"a": [{"b": token}, jwt], "n": 7}));
        assert_eq!(nested, json!({"a": [{"b": "lapwing_***"}, "***"], "n": 7}));
    }
}
