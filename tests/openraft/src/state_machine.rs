//! A state machine in memory: it remembers what was applied last and the membership, as the suite asks for.

use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard};

use openraft::storage::{RaftStateMachine, Snapshot};
use openraft::{
    BasicNode, EntryPayload, LogId, OptionalSend, RaftSnapshotBuilder, SnapshotMeta, StorageError, StoredMembership,
};

use crate::TypeConfig;

type Membership = StoredMembership<u64, BasicNode>;
type Meta = SnapshotMeta<u64, BasicNode>;

#[derive(Debug, Default)]
struct State {
    last_applied: Option<LogId<u64>>,
    membership: Membership,
    snapshot: Option<(Meta, Vec<u8>)>,
}

#[derive(Debug, Clone, Default)]
pub struct StateMachine {
    state: Arc<Mutex<State>>,
}

impl StateMachine {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics under the lock")
    }
}

impl RaftSnapshotBuilder<TypeConfig> for StateMachine {
    async fn build_snapshot(&mut self) -> Result<Snapshot<TypeConfig>, StorageError<u64>> {
        let mut state = self.state();
        let (last_log_id, last_membership) = (state.last_applied, state.membership.clone());
        let meta = SnapshotMeta { last_log_id, last_membership, snapshot_id: format!("{last_log_id:?}") };
        state.snapshot = Some((meta.clone(), vec![]));
        Ok(Snapshot { meta, snapshot: Box::new(Cursor::new(vec![])) })
    }
}

impl RaftStateMachine<TypeConfig> for StateMachine {
    type SnapshotBuilder = Self;

    async fn applied_state(&mut self) -> Result<(Option<LogId<u64>>, Membership), StorageError<u64>> {
        let state = self.state();
        Ok((state.last_applied, state.membership.clone()))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<()>, StorageError<u64>>
    where
        I: IntoIterator<Item = openraft::Entry<TypeConfig>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut state = self.state();
        let apply = |entry: openraft::Entry<TypeConfig>| {
            state.last_applied = Some(entry.log_id);
            if let EntryPayload::Membership(membership) = entry.payload {
                state.membership = StoredMembership::new(Some(entry.log_id), membership);
            }
        };
        Ok(entries.into_iter().map(apply).collect())
    }

    async fn get_snapshot_builder(&mut self) -> Self::SnapshotBuilder {
        self.clone()
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<Cursor<Vec<u8>>>, StorageError<u64>> {
        Ok(Box::default())
    }

    async fn install_snapshot(&mut self, meta: &Meta, snapshot: Box<Cursor<Vec<u8>>>) -> Result<(), StorageError<u64>> {
        let mut state = self.state();
        (state.last_applied, state.membership) = (meta.last_log_id, meta.last_membership.clone());
        state.snapshot = Some((meta.clone(), snapshot.into_inner()));
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<TypeConfig>>, StorageError<u64>> {
        let snapshot = self.state().snapshot.clone();
        Ok(snapshot.map(|(meta, bytes)| Snapshot { meta, snapshot: Box::new(Cursor::new(bytes)) }))
    }
}
