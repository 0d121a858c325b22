//! The tables of consumer groups that are in force: as configured, until somebody changes them while the node runs. And
//! how many groups there are.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::config::GroupConfig;
use crate::error::NodeError;
pub(crate) use crate::group_tables::GroupTables;

/// One per node: read by every shard when its version has changed, written by the handle.
pub(crate) struct GroupBook {
    tables: RwLock<Arc<GroupTables>>,
    version: AtomicU64,
    /// Groups of all shards.
    count: AtomicU32,
}

impl GroupBook {
    /// `tables`: those of the configuration.
    pub(crate) fn new(tables: BTreeMap<String, GroupConfig>) -> Self {
        let tables = RwLock::new(Arc::new(tables.into()));
        GroupBook { tables, version: AtomicU64::new(1), count: AtomicU32::new(0) }
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

    /// How many may begin yet of so many at most.
    pub(crate) fn free(&self, most: u32) -> u64 {
        most.saturating_sub(self.count.load(Ordering::Acquire)).into()
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
        self.change(|tables| tables.put(name, table))
    }

    /// Declares a group that is there from before and that nothing declares; see [`GroupTables::redeclare`].
    pub(crate) fn redeclare(
        &self,
        name: &str,
        filter: &str,
        json: &[u8],
        is_loaded: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut lacks = Vec::new();
        let _ = self.change(|tables| {
            lacks = tables.redeclare(name, filter, json, is_loaded);
            Ok::<(), Infallible>(())
        });
        lacks
    }

    /// A group that a configuration names no more goes on, because messages wait in it, or is not declared any more;
    /// see [`GroupTables::left_out`].
    pub(crate) fn settle(&self, name: &str, filter: &str, has_messages: bool) {
        let _ = self.change(|tables| {
            if has_messages {
                tables.keep(name, filter);
            } else {
                tables.let_go(name, filter);
            }
            Ok::<(), Infallible>(())
        });
    }

    /// Takes the table of `name` out, and what is declared beside it; false when there was neither.
    pub(crate) fn remove(&self, name: &str) -> bool {
        self.change(|tables| tables.remove(name).then_some(()).ok_or(())).is_ok()
    }

    /// Takes, replaces and takes out (`None`) several tables ([`GroupTables::replace`]), and does what goes with it: all of it,
    /// or on an error nothing.
    ///
    /// # Errors
    /// `Config`: there would be too many. What `with_it` returns, which is called last.
    pub(crate) fn change_all(
        &self,
        changes: BTreeMap<String, Option<GroupConfig>>,
        with_it: impl FnOnce() -> Result<(), NodeError>,
    ) -> Result<(), NodeError> {
        if changes.is_empty() {
            return with_it();
        }
        self.change(|tables| {
            let mut new = tables.clone();
            new.replace(changes)?;
            with_it()?;
            *tables = new;
            Ok(())
        })
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
    use crate::config::GROUP_TABLES_MAX;

    fn names(book: &GroupBook) -> Vec<String> {
        book.tables().by_name().map(|(name, _)| name.to_owned()).collect()
    }

    /// Is each change seen by its version, and what changes nothing not?
    #[test]
    fn changes_have_versions() {
        let book = GroupBook::new(BTreeMap::new());
        let before = book.version();
        assert!(!book.remove("alarms"));
        assert_eq!(book.version(), before);
        book.put("alarms", GroupConfig::default()).unwrap();
        assert!(book.version() > before && book.tables().get("alarms").is_some());
        assert!(book.remove("alarms") && book.tables().by_name().next().is_none());
    }

    /// Do several changes come together, and with one too many none of them?
    #[test]
    fn several_change_together_or_not_at_all() {
        let book = GroupBook::new(BTreeMap::from([("a".into(), GroupConfig::default())]));
        let table = |workers| Some(GroupConfig { workers, ..GroupConfig::default() });
        let changes = || BTreeMap::from([("a".into(), None), ("b".into(), table(2)), ("c".into(), None)]);
        let fault = || Err(NodeError::config("rules", "wrong".into(), ""));
        assert!(book.change_all(changes(), fault).is_err() && book.change_all(BTreeMap::new(), fault).is_err());
        assert_eq!(
            (book.tables().get("a").is_some(), book.tables().get("b").is_some()),
            (true, false),
            "nothing without it"
        );
        book.change_all(changes(), || Ok(())).unwrap();
        assert_eq!(names(&book), ["b"]);
        let before = book.version();
        let many = (0..GROUP_TABLES_MAX).map(|n| (format!("g{n}"), table(3))).collect();
        assert!(book.change_all(many, || Ok(())).unwrap_err().to_string().contains("1001 tables"));
        assert_eq!((book.version(), names(&book).len()), (before, 1));
    }

    /// Is there room again when one has ended?
    #[test]
    fn there_are_so_many_groups_at_most() {
        let book = GroupBook::new(BTreeMap::new());
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
        assert_eq!(book.tables().get("g1").map(|table| table.workers), Some(2));
    }
}
