//! MQTT-SN over UDP: clients that have an address and no connection, and what makes them clients as all others are.
//!
//! Rules of this room:
//! - One thread has all sockets of all `sn://` and `sns://` listeners, and the table of clients by address. What a client's messages mean
//!   says `lapwing_sn::peer`, which does no I/O; here each meaning becomes a packet of MQTT 5.0.
//! - Each client has a connection of its own to the shard of its id ([`link`]): a pair of the kernel's sockets inside the process.
//!   Sessions, rights, hooks, durability, groups, retained messages, takeover, limits and metrics are so those that there are,
//!   and a shard knows nothing of MQTT-SN, but which client ids are a listener's own ([`nobody`]), and that a CONNECT which comes
//!   again on such a connection brings another will ([`will`]).
//! - One message of QoS 1 or 2 is under way to a client (its Receive Maximum is 1); all others wait in its session, which is
//!   where queues are bounded, kept and counted. What has QoS 0 and cannot go at once waits here, so many messages.
//! - What goes to a client first is kept: PUBACK and PUBREC say what the session said, and PUBREL follows the session's.
//! - A source address is no identity. Nobody is answered with more bytes than came, before something came that answers; and before
//!   that no session is opened that is kept or takes somebody's place ([`word`]). Only a CONNECT makes an entry in the table; who
//!   has one and has not answered goes when there is no place for another.
//! - Behind `sns://` each datagram goes through a connection of DTLS ([`tunnels`]) and is then as any other. Handshakes are done
//!   here, so many steps in a turn. Who is connected goes with the connection he is connected in.
//! - Nothing here waits for a shard: what finds no room in a client's connection is refused with 0x01 (congestion), or counted
//!   as dropped under its reason.

mod address;
mod admission;
mod counters;
mod discovery;
mod down;
mod entrance;
mod flush;
mod goodbyes;
mod guest;
mod io;
mod kept_wills;
mod lay;
mod leaving;
mod link;
pub(crate) mod nobody;
mod opening;
mod output;
mod overflow;
mod packets;
mod sealed;
mod seals;
mod silent;
mod table;
mod terms;
mod thread;
mod traffic;
mod tunnel;
mod tunnels;
mod up;
mod will;
mod word;

pub(crate) use counters::SnCounters;
pub(crate) use lay::lay_sn;
pub(crate) use thread::SnThread;
