//! The tables of consumer groups that are in force: as configured, until somebody changes them while the node runs. And
//! how many groups there are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::config::{GROUP_TABLES_MAX, GroupConfig};
use crate::error::NodeError;

/// Tables by share name or pattern.
pub(crate) type GroupTables = BTreeMap<String, GroupConfig>;

/// One per node: read by every shard when its version has changed, written by the handle.
pub(crate) struct GroupBook {
    tables: RwLock<Arc<GroupTables>>,
    version: AtomicU64,
    /// Groups of all shards.
    count: AtomicU32,
}

impl GroupBook {
    pub(crate) fn new(tables: GroupTables) -> Self {
        GroupBook { tables: RwLock::new(Arc::new(tables)), version: AtomicU64::new(1), count: AtomicU32::new(0) }
    }

    /// Goes up with every change; never 0.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Counts a group that is to begin; false, and nothing is counted, when there are `most` already.
    pub(crate) fn begins(&self, most: u32) -> bool {
        let one_more = |count: u32| (count < most).then_some(count + 1);
        self.count.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).is_ok()
    }

    /// A group that was counted has ended.
    pub(crate) fn ends(&self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
    }

    /// The tables now in force.
    pub(crate) fn tables(&self) -> Arc<GroupTables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes or replaces the table of `name`.
    ///
    /// # Errors
    /// `Config`: there are too many.
    pub(crate) fn put(&self, name: &str, table: GroupConfig) -> Result<(), NodeError> {
        self.change(|tables| {
            if tables.len() >= GROUP_TABLES_MAX && !tables.contains_key(name) {
                let what = format!("has {GROUP_TABLES_MAX} tables already");
                return Err(NodeError::config("groups", what, "Remove one, or use one pattern for many."));
            }
            tables.insert(name.to_owned(), table);
            Ok(())
        })
    }

    /// Takes the table of `name` out; false when there was none.
    pub(crate) fn remove(&self, name: &str) -> bool {
        self.change(|tables| tables.remove(name).map(|_| ()).ok_or(())).is_ok()
    }

    fn change<E>(&self, work: impl FnOnce(&mut GroupTables) -> Result<(), E>) -> Result<(), E> {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        work(Arc::make_mut(&mut tables))?;
        self.version.fetch_add(1, Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each change seen by its version, and what changes nothing not?
    #[test]
    fn changes_have_versions() {
        let book = GroupBook::new(GroupTables::new());
        let before = book.version();
        assert!(!book.remove("alarms"));
        assert_eq!(book.version(), before);
        book.put("alarms", GroupConfig::default()).unwrap();
        assert!(book.version() > before && book.tables().contains_key("alarms"));
        assert!(book.remove("alarms") && book.tables().is_empty());
    }

    /// Is there room again when one has ended?
    #[test]
    fn there_are_so_many_groups_at_most() {
        let book = GroupBook::new(GroupTables::new());
        assert!(book.begins(2) && book.begins(2) && !book.begins(2));
        book.ends();
        assert!(book.begins(2) && !book.begins(2));
    }

    /// Is one table too many refused, and a known one still replaced?
    #[test]
    fn there_are_so_many_tables_at_most() {
        let full = (0..GROUP_TABLES_MAX).map(|n| (format!("g{n}"), GroupConfig::default())).collect();
        let book = GroupBook::new(full);
        let error = book.put("one-more", GroupConfig::default()).unwrap_err();
        assert!(error.to_string().contains("1000 tables"), "{error}");
        book.put("g1", GroupConfig { workers: 2, ..GroupConfig::default() }).unwrap();
        assert_eq!(book.tables()["g1"].workers, 2);
    }
}
