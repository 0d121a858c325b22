//! What was answered: yes or no, as whom, with which rules, for how long.

use serde::Deserialize;
use serde_json::Value;

use crate::grant::{Grant, OwnRules};
use crate::jwt::rules_of;
use crate::users::name_fault;
use crate::{Identity, Voucher, wildcard};

/// An answer that can be acted on.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It is so.
    Allow {
        /// Who it is.
        identity: Identity,
        /// For so long; `None`: the settings say.
        ttl_s: Option<u64>,
    },
    /// It is not so.
    Deny {
        /// For so long; `None`: the settings say.
        ttl_s: Option<u64>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    allow: bool,
    #[serde(default)]
    username: Option<String>,
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default)]
    rules: Option<Value>,
    #[serde(default)]
    ttl_s: Option<u64>,
    #[serde(default)]
    expires_in_s: Option<u64>,
}

impl Answer {
    /// Reads the body of an answer about a client that says it is `username`; `names`: whom it may name, with `*`;
    /// `now_s`: seconds since 1970, UTC.
    ///
    /// # Errors
    /// It is no answer, in words without anything of it.
    pub fn parse(body: &[u8], username: Option<&str>, names: &str, now_s: u64) -> Result<Self, &'static str> {
        let written: Written =
            serde_json::from_slice(body).map_err(|_| "is no JSON object with allow and the keys known")?;
        let ttl_s = written.ttl_s;
        if !written.allow {
            return Ok(Answer::Deny { ttl_s });
        }
        let name = written.username.as_deref().or(username).ok_or("allows somebody without a user name")?;
        if name_fault(name).is_some() || !wildcard::matches(names, name) {
            return Err("gives a user name that is none, or not within auth.http.names");
        }
        let rules = match &written.rules {
            None => OwnRules::None,
            Some(rules) => OwnRules::These(rules_of(rules).ok_or("has rules that are none, or too many")?),
        };
        let client_id = written.client_id.map(Into::into);
        if written.expires_in_s == Some(0) {
            return Err("allows somebody whose time is over: expires_in_s is 0");
        }
        let expires_at_s = written.expires_in_s.map(|seconds| now_s.saturating_add(seconds));
        let grant = Grant { client_id, rules, expires_at_s };
        Ok(Answer::Allow { identity: Identity::granted(name, Voucher::Check, grant), ttl_s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Result<Answer, &'static str> {
        Answer::parse(body.as_bytes(), Some("alice"), "a*", 1000)
    }

    #[test]
    fn an_answer_says_who_and_how_long() {
        let Ok(Answer::Allow { identity, ttl_s }) = parse(r#"{"allow": true}"#) else { panic!("refused") };
        assert_eq!((identity.name(), identity.voucher(), ttl_s), (Some("alice"), Voucher::Check, None));
        let body = r#"{"allow": true, "username": "anna", "client_id": "c", "ttl_s": 5, "expires_in_s": 7,
            "rules": [{"may": ["publish"], "topics": ["a/%c"]}]}"#;
        let Ok(Answer::Allow { identity, ttl_s }) = parse(body) else { panic!("refused") };
        let grant = identity.grant().unwrap();
        assert_eq!((identity.name(), ttl_s, grant.expires_at_s), (Some("anna"), Some(5), Some(1007)));
        assert!(grant.client_id.as_deref() == Some("c") && grant.rules.are_there());
        assert!(matches!(parse(r#"{"allow": false, "ttl_s": 9}"#), Ok(Answer::Deny { ttl_s: Some(9) })));
    }

    /// Does nothing but a clear yes let anybody in?
    #[test]
    fn what_is_no_answer_lets_nobody_in() {
        for body in [
            "",
            "true",
            "{}",
            "[]",
            "null",
            r#"{"allow": "true"}"#,
            r#"{"allow": 1}"#,
            r#"{"allow": true"#,
            r#"{"allow": true, "allow": false}"#,
            r#"{"allow": true, "user": "anna"}"#,
            r#"{"allow": true, "username": "bob"}"#,
            r#"{"allow": true, "username": ""}"#,
            r#"{"allow": true, "username": "a\u0000"}"#,
            r#"{"allow": true, "username": "a*"}"#,
            r#"{"allow": true, "rules": [{"may": ["admin"], "topics": ["a"]}]}"#,
            r#"{"allow": true, "rules": "all"}"#,
            r#"{"allow": true, "ttl_s": -1}"#,
            r#"{"allow": true, "expires_in_s": 0}"#,
            r#"{"allow": true} {"allow": true}"#,
            "<html>200 OK</html>",
        ] {
            assert!(parse(body).is_err(), "{body}");
        }
        assert!(Answer::parse(br#"{"allow": true}"#, None, "*", 0).is_err(), "nobody in particular");
    }
}
