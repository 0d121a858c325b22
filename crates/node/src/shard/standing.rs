//! Who a client is, as far as the broker has found out.

use std::sync::Arc;

use lapwing_access::Identity;

use crate::hooks::HookClient;

/// What a client was granted when it connected last; lives as long as its session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// Who it is.
    pub(crate) identity: Identity,
    /// The same for hooks and events, if there are any.
    pub(crate) who: Option<Arc<HookClient>>,
}
