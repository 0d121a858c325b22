//! What the entries of one data group add up to.

mod apply;
mod exactly_once;
mod frozen;
mod graves;
mod group_state;
mod kept_group;
mod kept_session;
mod origins;

pub use exactly_once::Flight;
pub use frozen::FrozenState;
pub use group_state::GroupState;
pub use kept_group::KeptGroup;
pub use kept_session::{KeptSession, WillRef};
pub use origins::Unsettled;

pub(crate) use exactly_once::ExactlyOnce;
pub(crate) use kept_group::NO_TERMS;
pub(crate) use kept_session::Away;
pub(crate) use origins::{Origins, Publisher, Uses};
