//! A client asks for its session.

use lapwing_sn::peer::WillChange;

/// What a connection is opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    pub(super) client_id: Box<str>,
    pub(super) clean_session: bool,
    pub(super) will: WillChange,
}
