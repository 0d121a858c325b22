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

impl Standing {
    /// Of a client that was granted it before the node started: from where it came, and what it spoke, is not known any more.
    pub(crate) fn from_before(client_id: &Arc<str>, identity: &Identity) -> HookClient {
        HookClient {
            client_id: client_id.clone(),
            identity: identity.shared_name().cloned(),
            address: String::new(),
            version: 0,
        }
    }
}
