//! Sets of packet types as bit masks, for the tables that say what may stand where.

/// A set of packet types: bit N is the packet type with number N; bit 0, which no packet has, is the will of a CONNECT.
pub(crate) type Owners = u16;

pub(crate) const WILL: Owners = 1;
pub(crate) const CONNECT: Owners = 1 << 1;
pub(crate) const CONNACK: Owners = 1 << 2;
pub(crate) const PUBLISH: Owners = 1 << 3;
pub(crate) const PUBACK: Owners = 1 << 4;
pub(crate) const PUBREC: Owners = 1 << 5;
pub(crate) const PUBREL: Owners = 1 << 6;
pub(crate) const PUBCOMP: Owners = 1 << 7;
pub(crate) const SUBSCRIBE: Owners = 1 << 8;
pub(crate) const SUBACK: Owners = 1 << 9;
pub(crate) const UNSUBSCRIBE: Owners = 1 << 10;
pub(crate) const UNSUBACK: Owners = 1 << 11;
pub(crate) const DISCONNECT: Owners = 1 << 14;
pub(crate) const AUTH: Owners = 1 << 15;

pub(crate) const ACKS: Owners = PUBACK | PUBREC | PUBREL | PUBCOMP;
