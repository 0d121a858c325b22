//! The users: names, passwords' hashes, tokens' digests.

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::UserConfig;
use crate::error::AccessError;
use crate::password::PasswordRecord;
use crate::rule::ANONYMOUS;
use crate::token::{Sha256Digest, digest, parse_digest};

/// Every user of one users file.
pub(crate) struct Users {
    by_name: HashMap<Arc<str>, Option<PasswordRecord>>,
    by_token: HashMap<Sha256Digest, Arc<str>>,
    /// Checked in place of the password that a user does not have: as dear as the dearest that any user has.
    dummy: PasswordRecord,
}

impl Users {
    /// Reads users.
    ///
    /// # Errors
    /// The first one that is wrong: its key (`auth.users.alice`), what is wrong; never a hash or a digest.
    pub(crate) fn new(users: &[UserConfig]) -> Result<Self, AccessError> {
        let (mut by_name, mut by_token) = (HashMap::with_capacity(users.len()), HashMap::new());
        for user in users {
            let key = format!("auth.users.{}", user.name.escape_debug());
            check_name(&key, &user.name)?;
            let name: Arc<str> = user.name.as_str().into();
            let parse = |text: &crate::PasswordHashText| PasswordRecord::parse(&text.0);
            let password = user.password.as_ref().map(parse).transpose().map_err(|what| {
                AccessError::new(format!("{key}.password"), what, "Set it again: lapwing user add NAME --replace.")
            })?;
            for (n, token) in user.tokens.iter().enumerate() {
                let digest = parse_digest(&token.0).ok_or_else(|| {
                    let what = "is no SHA-256 of 64 hexadecimal digits";
                    AccessError::new(format!("{key}.tokens.{n}"), what, "Make a new one: lapwing user token NAME.")
                })?;
                by_token.insert(digest, name.clone());
            }
            if by_name.insert(name, password).is_some() {
                return Err(AccessError::new(key, "is there twice", "Remove one of them."));
            }
        }
        let dummy = PasswordRecord::dummy(by_name.values().flatten().max_by_key(|record| record.work()));
        Ok(Users { by_name, by_token, dummy })
    }

    /// Whether there is a user of that name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The user whose token it is.
    pub(crate) fn of_token(&self, token: &[u8]) -> Option<&Arc<str>> {
        self.by_token.get(&digest(token)?)
    }

    /// The user's name and password, or a password that nobody has and that costs as much to check.
    pub(crate) fn password_of(&self, name: &str) -> Option<(&Arc<str>, &PasswordRecord)> {
        let (name, password) = self.by_name.get_key_value(name)?;
        Some((name, password.as_ref()?))
    }

    /// What is checked in addition when a password was wrong, so that it costs about as much as the dearest, and as one of
    /// a user that there is not: the time says nothing of who exists, or whose hash is old.
    pub(crate) fn rest_of(&self, record: &PasswordRecord) -> Option<PasswordRecord> {
        let rest = self.dummy.work().saturating_sub(record.work());
        (rest > 0).then(|| PasswordRecord::filler(rest))
    }

    /// See [`Users`].
    pub(crate) fn dummy(&self) -> &PasswordRecord {
        &self.dummy
    }
}

fn check_name(key: &str, name: &str) -> Result<(), AccessError> {
    let Some(what) = name_fault(name) else { return Ok(()) };
    Err(AccessError::new(key, what, "Choose another name."))
}

/// What is wrong with a name that rules are to speak of: no wildcard in it, not the one of those without a name.
pub(crate) fn name_fault(name: &str) -> Option<&'static str> {
    Some(match name {
        "" => "is empty",
        ANONYMOUS => "is the name that rules have for those without one",
        _ if name.len() > usize::from(u16::MAX) => "is longer than a user name can be",
        _ if name.contains('*') => "has * in it, which rules take for any characters",
        _ if name.chars().any(char::is_control) => "has control characters in it",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::tests::cheap_hash;

    fn user(json: &str) -> UserConfig {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn wrong_users_name_their_key_and_no_secret() {
        for (json, key) in [
            (r#"{"name": ""}"#, "auth.users."),
            (r#"{"name": "anonymous"}"#, "auth.users.anonymous"),
            (r#"{"name": "a*"}"#, "auth.users.a*"),
            (r#"{"name": "a\n"}"#, "auth.users.a\\n"),
            (r#"{"name": "a", "password": "s3cret"}"#, "auth.users.a.password"),
            (r#"{"name": "a", "tokens": ["s3cret"]}"#, "auth.users.a.tokens.0"),
        ] {
            let error = Users::new(&[user(json)]).err().unwrap();
            assert_eq!(error.key, key);
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
        let twice = [user(r#"{"name": "a"}"#), user(r#"{"name": "a"}"#)];
        assert_eq!(Users::new(&twice).err().unwrap().key, "auth.users.a");
    }

    /// Does a wrong password cost the same whether its user's hash is cheap, dear, or not there?
    #[test]
    fn every_wrong_password_costs_what_the_dearest_does() {
        let hash = |m: u32, t: u32| format!("$argon2id$v=19$m={m},t={t},p=1${}${}", "A".repeat(22), "A".repeat(43));
        let known = [("cheap", 8, 1), ("old", 4096, 3), ("dear", 65536, 3)];
        let of =
            |(name, m, t): (&str, u32, u32)| user(&format!(r#"{{"name": "{name}", "password": "{}"}}"#, hash(m, t)));
        let users = Users::new(&known.map(of)).unwrap();
        let dearest = 65536 * 3;
        assert_eq!(users.dummy().work(), dearest);
        for (name, ..) in known {
            let record = users.password_of(name).unwrap().1;
            let work = record.work() + users.rest_of(record).map_or(0, |rest| rest.work());
            assert!(work.abs_diff(dearest) < dearest / 10, "{name}: {work}");
            assert!(users.rest_of(record).is_none_or(|rest| name != "dear" && !rest.verify(b"")));
        }
    }

    #[test]
    fn the_dummy_costs_what_the_passwords_cost() {
        let json = format!(r#"{{"name": "a", "password": "{}"}}"#, cheap_hash("x"));
        let users = Users::new(&[user(r#"{"name": "b"}"#), user(&json)]).unwrap();
        assert!(users.dummy().text().contains("m=8,t=1,p=1"));
        assert!(users.password_of("a").is_some() && users.password_of("b").is_none() && users.contains("b"));
    }
}
