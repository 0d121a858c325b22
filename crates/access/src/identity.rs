//! Who somebody is.

use std::sync::Arc;

use crate::{Grant, OwnRules};

/// Who said that somebody is who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voucher {
    /// Nobody: anonymous.
    Nobody,
    /// The users: a password or a token of theirs.
    Users,
    /// The authority that signed the client's certificate.
    Certificate,
    /// A hook of the operator's own.
    Hook,
    /// Who signed its token.
    Token,
    /// Somebody else, who was asked.
    Check,
}

/// A name that somebody has proved to have, or nobody in particular.
///
/// Two identities are the same when their names are, whoever vouched for them: a session that a client began with its
/// password goes on with its certificate.
#[derive(Clone, Debug)]
pub struct Identity {
    name: Option<Arc<str>>,
    voucher: Voucher,
    grant: Option<Arc<Grant>>,
}

impl Identity {
    /// Nobody in particular.
    pub const ANONYMOUS: Identity = Identity { name: None, voucher: Voucher::Nobody, grant: None };

    /// Somebody with a name.
    pub fn named(name: impl Into<Arc<str>>, voucher: Voucher) -> Self {
        Identity { name: Some(name.into()), voucher, grant: None }
    }

    /// Somebody with a name and what was granted with it.
    pub fn granted(name: impl Into<Arc<str>>, voucher: Voucher, grant: Grant) -> Self {
        Identity { name: Some(name.into()), voucher, grant: Some(Arc::new(grant)) }
    }

    /// What was granted beside the name.
    pub fn grant(&self) -> Option<&Grant> {
        self.grant.as_deref()
    }

    /// The rules that came with it.
    pub fn own_rules(&self) -> &OwnRules {
        self.grant().map_or(&OwnRules::None, |grant| &grant.rules)
    }

    /// The name; `None` for the anonymous.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The name, to be shared.
    pub fn shared_name(&self) -> Option<&Arc<str>> {
        self.name.as_ref()
    }

    /// Whether it is nobody in particular.
    pub const fn is_anonymous(&self) -> bool {
        self.name.is_none()
    }

    /// Who vouched for it.
    pub const fn voucher(&self) -> Voucher {
        self.voucher
    }
}

impl Default for Identity {
    fn default() -> Self {
        Identity::ANONYMOUS
    }
}

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Identity {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_makes_the_identity_and_nothing_else() {
        let named = |name: &str, voucher| Identity::named(name, voucher);
        assert_eq!(named("a", Voucher::Users), named("a", Voucher::Certificate));
        assert_ne!(named("a", Voucher::Users), named("b", Voucher::Users));
        assert_ne!(named("anonymous", Voucher::Users), Identity::ANONYMOUS);
        assert!(Identity::ANONYMOUS.is_anonymous() && !named("", Voucher::Hook).is_anonymous());
    }
}
