//! Who makes durable what the shards of a serving hand over.

use std::sync::Arc;

use lapwing_store::StoreError;

use crate::assemble::Unpark;
use crate::log::{LogThread, LogWiring, LogWriters};
use crate::mailbox::Bell;
use crate::member::{Door, Lease};

/// One of the two forms of a log.
pub(crate) enum Writing {
    /// A log thread of this serving, with these.
    Local(Box<LogWriters>),
    /// The raft thread of a member of a cluster, which goes on when the serving ends.
    Replicated(Door),
}

impl Writing {
    /// What wakes who takes what shards hand over; `unpark` wakes the serving's own thread.
    pub(crate) fn bell(&self, unpark: &Unpark) -> Bell {
        match self {
            Writing::Local(_) => Bell::new(unpark.clone()),
            Writing::Replicated(door) => door.lanes_bell(),
        }
    }

    /// Until when anybody may be answered, where that has an end.
    pub(crate) fn lease(&self) -> Option<Arc<Lease>> {
        match self {
            Writing::Local(_) => None,
            Writing::Replicated(door) => Some(door.lease()),
        }
    }

    /// What counts as a segment of the data groups' log, if they have one and it is known.
    pub(crate) fn scale_bytes(&self) -> Option<u64> {
        match self {
            Writing::Local(writers) => writers.scale_bytes(),
            Writing::Replicated(_) => None,
        }
    }

    /// Works for these shards until they have ended and all that they handed over is durable, or never will be. Gives itself
    /// back; `None`: the disk is full and the node ends.
    ///
    /// # Errors
    /// Any error of the log but `Full`: the node stops.
    pub(crate) fn run(self, wiring: LogWiring) -> Result<Option<Self>, StoreError> {
        match self {
            Writing::Local(writers) => {
                Ok(LogThread::new(*writers, wiring).run()?.map(|writers| Writing::Local(Box::new(writers))))
            }
            Writing::Replicated(door) => {
                door.replicate(wiring);
                Ok(Some(Writing::Replicated(door)))
            }
        }
    }

    /// Commits what waits and closes the log; a member's is closed by its own thread.
    ///
    /// # Errors
    /// As the log's.
    pub(crate) fn close(self) -> Result<(), StoreError> {
        match self {
            Writing::Local(writers) => writers.close(),
            Writing::Replicated(_) => Ok(()),
        }
    }
}
