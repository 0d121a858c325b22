//! Messages that come in: bounds, room, where they go.

pub(super) mod beyond;
pub(super) mod delivery;
pub(super) mod log_room;
pub(super) mod losses;
pub(super) mod message_expiry;
pub(super) mod room;
pub(super) mod route;
pub(super) mod stamp;
pub(super) mod topic_rules;
