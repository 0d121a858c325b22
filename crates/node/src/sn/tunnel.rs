//! One connection of DTLS: whose it is, who is connected in it, and until when it may stay.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use lapwing_transport::{Dtls, DtlsStage};

/// Whose it is: the socket that it speaks to, among all of the thread, and its address.
pub(super) type Peer = (usize, SocketAddr);

/// A client in it: its place in the table, and which one that was.
pub(super) type Inmate = (usize, u64);

/// Its place among those in which nobody is connected.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seat {
    /// It may be at another address.
    Hello(usize),
    Stranger(usize),
}

/// One connection.
pub(super) struct Tunnel {
    pub(super) peer: Peer,
    pub(super) dtls: Dtls,
    /// Tells it from earlier ones in the same place.
    pub(super) born: u64,
    /// None: somebody is connected in it.
    pub(super) seat: Option<Seat>,
    /// Who is connected in it: several where a forwarder speaks.
    pub(super) guests: BTreeSet<Inmate>,
    /// When something came last; of an unproven one, when its first hello came.
    pub(super) heard_ms: u64,
    /// When the timer that counts fires.
    pub(super) timer_ms: Option<u64>,
}

impl Tunnel {
    /// Whether its peer has shown where it is, and is still there.
    pub(super) fn is_proven(&self) -> bool {
        matches!(self.dtls.stage(), DtlsStage::Shaking | DtlsStage::Open)
    }

    /// Until when it stays if nothing comes: a client is waited for as long as one of TCP for its CONNECT. While somebody is
    /// connected, keep alive says that.
    pub(super) fn idle_until_ms(&self, patience_ms: u64) -> Option<u64> {
        self.guests.is_empty().then_some(self.heard_ms + patience_ms)
    }
}
