//! Who a client is, what it may do and have, and what becomes of it when that changes.

pub(super) mod audit;
pub(super) mod certificates;
pub(super) mod grants;
pub(super) mod permissions;
pub(super) mod renewal;
pub(super) mod shares;
pub(super) mod standing;
