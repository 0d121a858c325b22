//! What the entries of one data group add up to.

mod apply;
mod data_group_state;
mod exactly_once;
mod frozen;
mod kept_group;
mod kept_session;
mod lazy_free;
mod origins;

pub use data_group_state::DataGroupState;
pub use exactly_once::Flight;
pub use frozen::FrozenState;
pub use kept_group::KeptGroup;
pub use kept_session::{KeptSession, WillRef};
pub use origins::Unsettled;

pub(crate) use exactly_once::ExactlyOnce;
pub(crate) use kept_group::NO_OPTIONS;
pub(crate) use kept_session::Away;
pub(crate) use origins::{Origins, Publisher, Uses};
