//! Users and rules: their shapes and checks are those of the room `access`.

use lapwing_access::{AccessError, AuthConfig, Authority, RuleConfig};

use crate::error::NodeError;

/// Reads users and rules.
///
/// # Errors
/// `Config`: names the key (`rules.0.topics.1`, `auth.users.alice`) and the remedy, and no secret.
pub(crate) fn authority(auth: &AuthConfig, rules: &[RuleConfig]) -> Result<Authority, NodeError> {
    Ok(Authority::new(auth, rules)?)
}

impl From<AccessError> for NodeError {
    fn from(error: AccessError) -> Self {
        NodeError::config(&error.key, error.what, error.remedy)
    }
}
