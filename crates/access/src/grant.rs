//! What somebody else has granted a client beside its name: a token's claims, an answer's fields.

use crate::Rules;

/// Until when somebody is who it is, under which client id, and what it may.
#[derive(Clone, Debug, Default)]
pub struct Grant {
    /// The one client id that it may have; `None`: any.
    pub client_id: Option<Box<str>>,
    /// What it may beside what the operator's rules say of its name.
    pub rules: OwnRules,
    /// Seconds since 1970, UTC: its connection ends then. `None`: it does not.
    pub expires_at_s: Option<u64>,
}

/// Rules that came with a client.
#[derive(Clone, Debug, Default)]
pub enum OwnRules {
    /// None come: the operator's are all there is.
    #[default]
    None,
    /// These permit beside the operator's, and what none of both permits is refused.
    These(Rules),
    /// Some came, in a former life of the node, and are not known any more: what its session was granted then stays, as far as
    /// no rule of the operator's forbids it, until its client comes again.
    Lost,
}

impl OwnRules {
    /// Whether rules came, known or not.
    pub const fn are_there(&self) -> bool {
        !matches!(self, OwnRules::None)
    }
}
