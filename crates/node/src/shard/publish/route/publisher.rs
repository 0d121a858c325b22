//! Who publishes a message on this shard.

use crate::holder::Holder;
use crate::reserved_room::ReservedRoom;
use crate::shard::durable::keeping::Origin;

/// Who publishes a message, and what comes with it: handed down to all who decide where it goes.
#[derive(Debug)]
pub(in crate::shard) struct Publisher<'a> {
    pub(in crate::shard) client_id: &'a str,
    /// Of a QoS 2 message of a kept session: which it is, for after a crash.
    pub(in crate::shard) origin: Option<Origin>,
    /// Of a will, where identities have shares: whose it is, since its session may be gone.
    pub(in crate::shard) holder: Option<Holder>,
    /// The room that was promised for it among the retained messages; what is not used is given back when this goes.
    pub(in crate::shard) reserved_room: Option<ReservedRoom>,
}

impl<'a> Publisher<'a> {
    /// One with nothing but a name.
    pub(in crate::shard) const fn named(client_id: &'a str) -> Self {
        Publisher { client_id, origin: None, holder: None, reserved_room: None }
    }
}
