//! Users and rules: their shapes and checks are those of the room `access`.

use lapwing_access::{AccessError, AuthConfig, Authority, JwtKeys, RuleConfig};

use crate::error::NodeError;
use crate::passwords::check_outside;
use crate::token_keys::check_fetched;

/// Reads users and rules.
///
/// # Errors
/// `Config`: names the key (`rules.0.topics.1`, `auth.users.alice`) and the remedy, and no secret.
pub(crate) fn authority(auth: &AuthConfig, rules: &[RuleConfig]) -> Result<Authority, NodeError> {
    Ok(Authority::new(auth, rules)?)
}

/// Whether what is to be asked of others can be asked.
///
/// # Errors
/// `Config`: a URL or its authorities cannot be used.
pub fn check_access(auth: &AuthConfig) -> Result<(), NodeError> {
    if let Some(JwtKeys::Url(fetched)) = auth.jwt.as_ref().map(|jwt| &jwt.keys) {
        check_fetched(fetched)?;
    }
    auth.outside.as_ref().map_or(Ok(()), check_outside)
}

impl From<AccessError> for NodeError {
    fn from(error: AccessError) -> Self {
        NodeError::config(&error.key, error.what, error.remedy)
    }
}
