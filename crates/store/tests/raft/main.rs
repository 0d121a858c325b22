//! The journal as the log of a Raft group: `openraft`'s own suite for log storages passes against it.
//!
//! The state machine beside it is in memory; the suite asks for one.

mod log_store;
mod state_machine;

use std::io::Cursor;

use log_store::LogStore;
use openraft::StorageError;
use openraft::testing::{StoreBuilder, Suite};
use state_machine::StateMachine;

openraft::declare_raft_types!(
    /// What the suite fills in.
    pub TypeConfig:
        D = String,
        R = (),
        NodeId = u64,
        Node = openraft::BasicNode,
        Entry = openraft::Entry<TypeConfig>,
        SnapshotData = Cursor<Vec<u8>>,
        AsyncRuntime = openraft::TokioRuntime,
);

struct Builder;

impl StoreBuilder<TypeConfig, LogStore, StateMachine, tempfile::TempDir> for Builder {
    async fn build(&self) -> Result<(tempfile::TempDir, LogStore, StateMachine), StorageError<u64>> {
        let dir = tempfile::tempdir().expect("a folder");
        let store = LogStore::open(dir.path());
        Ok((dir, store, StateMachine::default()))
    }
}

#[test]
fn openrafts_suite_passes() {
    Suite::test_all(Builder).expect("the suite");
}
