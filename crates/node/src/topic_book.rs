//! The tables of topics that are in force: as configured, until somebody changes them while the node runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::config::TopicTables;

/// One per node: read by every shard when its version has changed, written by the handle.
pub(crate) struct TopicBook {
    tables: RwLock<Arc<TopicTables>>,
    version: AtomicU64,
}

impl TopicBook {
    pub(crate) fn new(tables: TopicTables) -> Self {
        TopicBook { tables: RwLock::new(Arc::new(tables)), version: AtomicU64::new(1) }
    }

    /// Goes up with every change; never 0.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The tables now in force, and their version.
    pub(crate) fn tables(&self) -> (Arc<TopicTables>, u64) {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        (tables.clone(), self.version())
    }

    /// Takes these tables in place of those there are; false, and nothing changes, where they are the same.
    pub(crate) fn replace(&self, new: TopicTables) -> bool {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        if **tables == new {
            return false;
        }
        *tables = Arc::new(new);
        self.version.fetch_add(1, Ordering::Release);
        true
    }
}
