//! The journal as the log of a Raft group, behind `openraft`'s traits, so that its own suite for log storages can be run
//! against it. The state machine beside it is in memory; the suite asks for one.

pub mod log_store;
pub mod state_machine;

use std::io::Cursor;

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
