//! A client asks for its session.

use std::sync::Arc;

use lapwing_sn::peer::WillChange;

/// What a connection is opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    pub(super) client_id: Arc<str>,
    pub(super) clean_session: bool,
    pub(super) will: WillChange,
}
