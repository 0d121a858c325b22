//! `openraft`'s own suite for log storages passes against the journal.

use lapwing_openraft::TypeConfig;
use lapwing_openraft::log_store::LogStore;
use lapwing_openraft::state_machine::StateMachine;
use openraft::StorageError;
use openraft::testing::{StoreBuilder, Suite};

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
