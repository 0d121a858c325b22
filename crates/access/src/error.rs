//! What can be wrong with users and rules as they are configured.

/// Users or rules are wrong; the operator's fault. Nothing of it is a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {what}")]
pub struct AccessError {
    /// Path of the key, with dots: `rules.2.topics.0`, `auth.users.alice`.
    pub key: String,
    /// What is wrong there.
    pub what: String,
    /// What to do.
    pub remedy: &'static str,
}

impl AccessError {
    pub(crate) fn new(key: impl Into<String>, what: impl Into<String>, remedy: &'static str) -> Self {
        AccessError { key: key.into(), what: what.into(), remedy }
    }
}
