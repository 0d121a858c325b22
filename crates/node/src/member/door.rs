//! The way to the raft thread, for whoever wants something of it.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use lapwing_cluster::Entry;
use lapwing_peer::NodeId;

use super::error::MemberError;
use super::lease::Lease;
use super::status::MemberStatus;
use crate::log::LogWiring;
use crate::mailbox::Bell;

/// How long an answer may take: the thread turns fifty times a second.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// What the raft thread is asked for.
pub(super) enum Order {
    /// Shards hand over what they have by these lanes from now on; it is told when the last of that is done with.
    Lanes(LogWiring, SyncSender<()>),
    /// What was to serve does not: another node may try.
    NotServed,
    /// The last thread of a serving is over.
    ServingEnded,
    /// Another node is to serve: that one, or whichever is furthest.
    StepDown(Option<NodeId>),
    /// Where this node stands.
    Status(SyncSender<MemberStatus>),
    /// This is to be an entry of metadata; it is told when it holds, or why it does not.
    Say(Entry, SyncSender<Result<(), MemberError>>),
    /// Close the log and end.
    Stop,
}

/// A way to the raft thread.
#[derive(Clone)]
pub(crate) struct Door {
    orders: Sender<Order>,
    bell: Bell,
    lanes_bell: Bell,
    lease: Arc<Lease>,
}

impl Door {
    /// A door, and where the thread hears of what comes through it.
    pub(super) fn new(bell: Bell, lanes_bell: Bell, lease: Arc<Lease>) -> (Door, Receiver<Order>) {
        let (orders, waiting) = channel();
        (Door { orders, bell, lanes_bell, lease }, waiting)
    }

    /// What wakes the thread for what shards hand over, as soon as it may take that.
    pub(crate) fn lanes_bell(&self) -> Bell {
        self.lanes_bell.clone()
    }

    /// Until when this node may serve.
    pub(crate) fn lease(&self) -> Arc<Lease> {
        self.lease.clone()
    }

    /// Asks for something. A thread that has ended hears nothing, and whoever waits for it is told by that.
    pub(super) fn ask(&self, order: Order) {
        let _ = self.orders.send(order);
        self.bell.ring();
    }

    /// Has the raft thread take what shards hand over, until they have ended and the last of it is committed, or never will be.
    pub(crate) fn replicate(&self, wiring: LogWiring) {
        let (done, is_done) = sync_channel(1);
        self.ask(Order::Lanes(wiring, done));
        // Nobody says so where that thread has ended; it has said why.
        let _ = is_done.recv();
    }

    /// Has an entry of metadata proposed; returns when it holds.
    ///
    /// # Errors
    /// `NotLeader`: another node can. `Unsaid`: it does not hold. `Unanswered`: nobody can say. `Ended`.
    pub(super) fn say(&self, entry: Entry) -> Result<(), MemberError> {
        let (reply, awaited) = sync_channel(1);
        self.ask(Order::Say(entry, reply));
        awaited.recv_timeout(ANSWER_MAX).map_err(|_| MemberError::Unanswered)?
    }

    /// Where this node stands.
    ///
    /// # Errors
    /// `Ended`: the thread has ended, or does not turn any more.
    pub(crate) fn status(&self) -> Result<MemberStatus, MemberError> {
        let (reply, awaited) = sync_channel(1);
        self.ask(Order::Status(reply));
        awaited.recv_timeout(ANSWER_MAX).map_err(|_| MemberError::Ended)
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("lease", &self.lease).finish_non_exhaustive()
    }
}
