//! What has come of the one snapshot that a node takes at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lapwing_peer::{GroupNumber, SnapshotProgress};
use lapwing_store::journal::ReceivedDraft;

/// How long it stays without a connection.
const PARTIAL_MAX: Duration = Duration::from_secs(60);

/// Where it is.
#[derive(Default)]
pub(super) enum Slot {
    /// There is none.
    #[default]
    Free,
    /// A connection has it.
    Taken,
    /// What came before a connection broke, and when that was.
    Partial(Box<Partial>, Instant),
}

/// A part of a snapshot, on this disk.
pub(super) struct Partial {
    pub(super) group: GroupNumber,
    pub(super) progress: SnapshotProgress,
    pub(super) draft: ReceivedDraft,
}

impl Slot {
    /// Takes the slot, with what is in it; `None`: another connection has it.
    #[allow(clippy::option_option, reason = "whether it was had, and what was in it")]
    pub(super) fn take(slot: &Mutex<Slot>) -> Option<Option<Partial>> {
        let mut slot = lock(slot);
        match std::mem::replace(&mut *slot, Slot::Taken) {
            Slot::Free => Some(None),
            Slot::Partial(partial, _) => Some(Some(*partial)),
            Slot::Taken => None,
        }
    }

    /// Forgets what nobody has come back for.
    pub(super) fn tend(slot: &Mutex<Slot>) {
        let mut slot = lock(slot);
        if matches!(&*slot, Slot::Partial(_, since) if since.elapsed() > PARTIAL_MAX) {
            *slot = Slot::Free;
        }
    }
}

/// A thread that panicked has left a whole value behind.
pub(super) fn lock(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
