//! Whether a node may answer anybody now: a member of a cluster may until its lease is over.

use std::sync::Arc;

use super::Shared;
use crate::member::Lease;

impl Shared {
    /// The same, with a time behind which nobody is answered.
    pub(crate) fn bound_by(self, lease: Option<Arc<Lease>>) -> Self {
        Shared { lease, ..self }
    }

    /// Whether nobody may be answered now: another node may be the one that does.
    pub(crate) fn may_not_answer(&self) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.is_over())
    }
}
