//! Writes snapshots beside the log thread, one at a time: what waits in a group may take a second to be written down, and
//! acknowledgements do not wait for that.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{Builder, JoinHandle};

use lapwing_ledger::FrozenState;
use lapwing_store::StoreError;
use lapwing_store::journal::{DataGroupId, JournalReader};

use super::snapshot::{self, store_error};
use crate::error::NodeError;

/// A snapshot that was asked for, and what became of it.
pub(super) struct Written {
    pub(super) data_group: u16,
    /// The last entry that it has.
    pub(super) index: u64,
    /// Bytes of its file. `Full`: it may be tried again.
    pub(super) result: Result<u64, StoreError>,
}

/// The thread, and what it has in hand.
pub(super) struct SnapshotThread {
    /// None: it is told to end.
    orders: Option<SyncSender<(u16, FrozenState)>>,
    written: Receiver<Written>,
    is_busy: bool,
    thread: Option<JoinHandle<()>>,
}

impl SnapshotThread {
    /// # Errors
    /// `System`: no thread can be had.
    pub(super) fn start(reader: JournalReader) -> Result<Self, NodeError> {
        let (orders, waiting) = sync_channel::<(u16, FrozenState)>(1);
        let (done, written) = sync_channel(1);
        let work = move || {
            for (data_group, state) in waiting {
                let (index, result) = (state.applied(), write(&reader, data_group, state));
                if done.send(Written { data_group, index, result }).is_err() {
                    return;
                }
            }
        };
        let thread = Builder::new().name("lapwing-snapshot".into()).spawn(work);
        let thread = thread.map_err(|source| NodeError::System { doing: "start a thread", source })?;
        Ok(SnapshotThread { orders: Some(orders), written, is_busy: false, thread: Some(thread) })
    }

    /// Whether a snapshot is being written: there is room for no other.
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Has a group's state written. All that it has is durable.
    pub(super) fn begin(&mut self, data_group: u16, state: FrozenState) {
        debug_assert!(!self.is_busy, "one at a time");
        let is_taken = self.orders.as_ref().is_some_and(|orders| orders.send((data_group, state)).is_ok());
        self.is_busy = true;
        if !is_taken {
            self.fail();
        }
    }

    /// The snapshot that has been written since it was asked for, if there is one.
    pub(super) fn take_written(&mut self) -> Option<Written> {
        match self.written.try_recv() {
            Ok(written) => {
                self.is_busy = false;
                Some(written)
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => self.fail(),
        }
    }

    /// It has ended before it was told to: its panic goes on here, and ends the node.
    fn fail(&mut self) -> ! {
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => resume_unwind(panic),
            _ => panic!("the thread that writes snapshots has ended"),
        }
    }
}

impl Drop for SnapshotThread {
    /// Nothing may write in the folder when the log has been closed.
    fn drop(&mut self) {
        self.orders = None;
        // A panic of it was printed when it happened, and the node is ending.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn write(reader: &JournalReader, data_group: u16, state: FrozenState) -> Result<u64, StoreError> {
    // With one replica there is one term.
    let mut draft = reader.new_snapshot(DataGroupId(data_group), state.applied(), 0)?;
    snapshot::write(state, &mut draft).map_err(store_error)?;
    draft.finish()
}
