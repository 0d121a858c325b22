//! What a shard's timers are for.

use std::num::NonZeroU64;

use lapwing_session::SessionKey;

/// What a deadline is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The connection must have sent its CONNECT.
    Connect { index: usize, born: u64 },
    /// The connection must have taken bytes.
    Stall { index: usize, born: u64 },
    /// The connection may be read on: its bucket has filled, or its pause is over.
    Rate { index: usize, born: u64 },
    /// The connection must have been ended by its peer too.
    Linger { index: usize, born: u64 },
    /// A refusal that waited is said.
    Refusal { index: usize, born: u64 },
    /// What the client has proved itself with ends: a certificate, a token.
    Proof { index: usize, born: u64 },
    /// Keep alive, will delay or expiry of a session.
    Session(SessionKey),
    /// A client that has asked for it is probed.
    Probe { key: SessionKey, epoch: u64 },
    /// Something of a group: a stall to be looked for, a message that waits too long.
    Group(NonZeroU64),
    /// Something of a hold, by its place: a message expires, or may be tried again.
    Hold(usize),
    /// Retained messages may have expired.
    Retained,
    /// The next share of what ended sessions leave.
    Endings,
    /// Publishers of QoS 2 that have been silent are looked at.
    Settlement,
    /// The `$SYS` tree is published.
    Sys,
}
