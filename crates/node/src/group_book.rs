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
        self.change(|tables| {
            if tables.len() >= GROUP_TABLES_MAX && !tables.contains_key(name) {
                let what = format!("has {GROUP_TABLES_MAX} tables already");
                return Err(NodeError::config("groups", what, "Remove one, or use one pattern for many."));
            }
            tables.insert(name.to_owned(), table);
            Ok(())
        })
    }

    /// Declares a group that is there from before and that no table declares: in the table of its name if there is one, else
    /// as it was declared then (`json`), or with the defaults where that does not go with its filter any more.
    ///
    /// # Errors
    /// `Config`: there are too many tables, or no table may declare a group of that name.
    pub(crate) fn redeclare(&self, name: &str, filter: &str, json: &[u8]) -> Result<(), NodeError> {
        let as_then = || GroupConfig { filters: Vec::new(), ..serde_json::from_slice(json).unwrap_or_default() };
        let mut table = self.tables().get(name).cloned().unwrap_or_else(as_then);
        table.filters.push(filter.to_owned());
        if table.check(name).is_err() {
            table = GroupConfig { filters: table.filters, ..GroupConfig::default() };
            table.check(name)?;
        }
        self.put(name, table)
    }

    /// Takes the table of `name` out; false when there was none.
    pub(crate) fn remove(&self, name: &str) -> bool {
        self.change(|tables| tables.remove(name).map(|_| ()).ok_or(())).is_ok()
    }

    /// Takes, replaces and takes out (`None`) several tables, and does what goes with it: all of it, or on an error nothing.
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
            for (name, table) in changes {
                match table {
                    Some(table) => _ = new.insert(name, table),
                    None => _ = new.remove(&name),
                }
            }
            if new.len() > GROUP_TABLES_MAX {
                let what = format!("would have {} tables, and may have {GROUP_TABLES_MAX}", new.len());
                return Err(NodeError::config("groups", what, "Remove some, or use one pattern for many."));
            }
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

    /// A group from before: is it declared beside those of its name, else as it was, or with nothing that would contradict it;
    /// and not where no table can declare it?
    #[test]
    fn groups_from_before_are_declared_again() {
        let like = |filters: &[&str], topic: Option<&str>| GroupConfig {
            filters: filters.iter().map(|filter| (*filter).to_owned()).collect(),
            dead_letter_topic: topic.map(str::to_owned),
            workers: 3,
            ..GroupConfig::default()
        };
        let book = GroupBook::new([("jobs".to_owned(), like(&["jobs/#"], None))].into());
        let before = serde_json::to_vec(&GroupConfig { workers: 7, ..like(&["f", "a/b"], Some("dead/x")) }).unwrap();
        for (name, filter) in [("jobs", "work/#"), ("more", "a/b"), ("more", "f"), ("letters", "dead/#")] {
            book.redeclare(name, filter, &before).unwrap();
        }
        book.redeclare("strange", "s", b"no table").unwrap();
        let tables = book.tables();
        let found = |name: &str| (tables[name].filters.join(" "), tables[name].workers);
        assert_eq!(found("jobs"), ("jobs/# work/#".to_owned(), 3));
        assert_eq!(found("more"), ("a/b f".to_owned(), 7));
        assert_eq!(found("letters"), ("dead/#".to_owned(), 1), "its letters would come back to it");
        assert_eq!(found("strange"), ("s".to_owned(), 1));
        assert!(book.redeclare("a*", "a/#", &before).is_err());
    }

    /// Do several changes come together, and with one too many none of them?
    #[test]
    fn several_change_together_or_not_at_all() {
        let book = GroupBook::new(GroupTables::from([("a".into(), GroupConfig::default())]));
        let table = |workers| Some(GroupConfig { workers, ..GroupConfig::default() });
        let changes = || BTreeMap::from([("a".into(), None), ("b".into(), table(2)), ("c".into(), None)]);
        let fault = || Err(NodeError::config("rules", "wrong".into(), ""));
        assert!(book.change_all(changes(), fault).is_err() && book.change_all(BTreeMap::new(), fault).is_err());
        assert_eq!(
            (book.tables().contains_key("a"), book.tables().contains_key("b")),
            (true, false),
            "nothing without it"
        );
        book.change_all(changes(), || Ok(())).unwrap();
        assert_eq!(book.tables().keys().collect::<Vec<_>>(), ["b"]);
        let before = book.version();
        let many = (0..GROUP_TABLES_MAX).map(|n| (format!("g{n}"), table(3))).collect();
        assert!(book.change_all(many, || Ok(())).unwrap_err().to_string().contains("1001 tables"));
        assert_eq!((book.version(), book.tables().len()), (before, 1));
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
