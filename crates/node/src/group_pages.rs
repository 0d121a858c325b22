//! Pages of consumer groups, by name and filter: what a shard has for one, and what those of all shards are together.
//!
//! A page is bounded by number and by bytes, and so is what each shard gathers for it: clients choose how many groups there
//! are, and how long their names.

use std::sync::Arc;

use serde_json::json;

use crate::group_reports::GroupReport;

/// A share name and a filter, in the order of pages.
pub(crate) type GroupPlace = (Arc<str>, Arc<str>);

/// Which groups are wanted.
#[derive(Clone, Debug)]
pub struct GroupQuery {
    /// Of this share name only.
    pub name: Option<String>,
    /// Behind this `NAME/FILTER`; a name has no slash.
    pub after: Option<String>,
    /// So many at most, and 1 at least.
    pub limit: usize,
    /// The page ends with the group with which it has so many bytes.
    pub bytes_max: usize,
}

impl GroupQuery {
    /// Behind which place a shard's groups may be on the page.
    pub(crate) fn begins_behind(&self) -> Option<GroupPlace> {
        let after = self.after.as_deref().map(|after| {
            let (name, filter) = after.split_once('/').unwrap_or((after, ""));
            (name.into(), filter.into())
        });
        // No filter is empty.
        let named = self.name.as_deref().map(|name| (name.into(), "".into()));
        after.max(named)
    }

    /// Whether groups of a name are wanted.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.name.as_deref().is_none_or(|wanted| wanted == name)
    }
}

/// What one shard has for a page.
#[derive(Debug, Default)]
pub(crate) struct ShardPage {
    /// By place.
    reports: Vec<GroupReport>,
    /// Of the names in them.
    bytes: usize,
    /// Groups that live there, on whatever page.
    matching: u64,
    /// There are wanted ones behind the last.
    pub(crate) has_more: bool,
}

impl ShardPage {
    /// Nothing yet, of a shard that so many groups live on.
    pub(crate) fn of(groups: usize) -> Self {
        ShardPage { matching: groups as u64, ..ShardPage::default() }
    }

    /// Whether one more could be on the page.
    pub(crate) fn has_room(&self, query: &GroupQuery) -> bool {
        self.reports.is_empty() || (self.reports.len() < query.limit && self.bytes < query.bytes_max)
    }

    pub(crate) fn add(&mut self, report: GroupReport) {
        self.bytes += report.names_bytes();
        self.reports.push(report);
    }
}

/// One page.
#[derive(Debug, PartialEq, Eq)]
pub struct GroupPage {
    /// Each as an object in JSON.
    pub groups: Vec<String>,
    /// How many there are in all, of whatever name.
    pub matching: u64,
    /// Behind which `NAME/FILTER` the next page begins; None: that was all.
    pub next: Option<String>,
}

impl GroupPage {
    /// The first of what the shards have. Behind the last of a shard that has more, nobody knows what comes next.
    pub(crate) fn merge(shards: Vec<ShardPage>, query: &GroupQuery) -> Self {
        let cut = shards.iter().filter(|shard| shard.has_more).filter_map(|shard| shard.reports.last());
        let known_to = cut.map(GroupReport::place).min().map(|(name, filter)| (name.to_owned(), filter.to_owned()));
        let is_known = |report: &&GroupReport| {
            known_to.as_ref().is_none_or(|(name, filter)| report.place() <= (name.as_str(), filter.as_str()))
        };
        let matching = shards.iter().map(|shard| shard.matching).sum();
        let mut reports: Vec<GroupReport> = shards.into_iter().flat_map(|shard| shard.reports).collect();
        reports.sort_by(|a, b| a.place().cmp(&b.place()));
        let (mut groups, mut bytes): (Vec<String>, usize) = (Vec::new(), 0);
        for report in reports.iter().take_while(is_known).take(query.limit.max(1)) {
            if bytes >= query.bytes_max.max(1) {
                break;
            }
            let group = json!(report).to_string();
            bytes += group.len();
            groups.push(group);
        }
        let is_all = groups.len() == reports.len() && known_to.is_none();
        let last = groups.len().checked_sub(1).map(|last| reports[last].place());
        let next = last.filter(|_| !is_all).map(|(name, filter)| [name, "/", filter].concat());
        GroupPage { groups, matching, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group_reports::CounterReport;

    fn report(name: &str, filter: &str) -> GroupReport {
        GroupReport {
            name: name.to_owned(),
            filter: filter.to_owned(),
            strategy: String::new(),
            is_durable: false,
            is_kept: false,
            is_behind: false,
            members_here: 0,
            waiting_critical: 0,
            waiting_bulk: 0,
            waiting_bytes: 0,
            parked: 0,
            unacknowledged: 0,
            oldest_ms: None,
            backlog_s: None,
            counters: CounterReport::new(&Default::default(), &Default::default()),
            deferred: None,
            members: Vec::new(),
        }
    }

    /// What a shard with these groups answers.
    fn shard(groups: &[(&str, &str)], query: &GroupQuery) -> ShardPage {
        let begin = query.begins_behind();
        let mut sorted = groups.to_vec();
        sorted.sort_unstable();
        let is_wanted = |(name, filter): &&(&str, &str)| {
            query.wants(name) && begin.as_ref().is_none_or(|(n, f)| (*name, *filter) > (&**n, &**f))
        };
        let mut page = ShardPage::of(groups.len());
        for (name, filter) in sorted.iter().filter(is_wanted) {
            if !page.has_room(query) {
                page.has_more = true;
                break;
            }
            page.add(report(name, filter));
        }
        page
    }

    fn names(page: &GroupPage) -> Vec<(String, String)> {
        let parsed = page.groups.iter().map(|group| serde_json::from_str::<serde_json::Value>(group).expect("JSON"));
        let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
        parsed.map(|group| (text(&group["name"]), text(&group["filter"]))).collect()
    }

    /// Is each group of two shards on one page, in order, whether pages end by number or by bytes, and is the last told?
    #[test]
    fn each_group_is_on_one_page() {
        let long = "f".repeat(1_000);
        let one = [("a", "#"), ("a", "b"), ("a-", "#"), ("b", &*long), ("b", "x")];
        let other = [("a", "a"), ("a b", "+"), ("b", "y"), ("c", "#")];
        let mut all: Vec<(String, String)> =
            one.iter().chain(&other).map(|(name, filter)| (name.to_string(), filter.to_string())).collect();
        all.sort();
        for (limit, bytes_max) in
            [(1, 1 << 20), (2, 1 << 20), (3, 1 << 20), (9, 1 << 20), (100, 1), (100, 700), (100, 0)]
        {
            let mut query = GroupQuery { name: None, after: None, limit, bytes_max };
            let mut seen = Vec::new();
            loop {
                let page = GroupPage::merge(vec![shard(&one, &query), shard(&other, &query)], &query);
                assert!((1..=limit).contains(&page.groups.len()) && page.matching == 9, "{page:?}");
                seen.extend(names(&page));
                let Some(next) = page.next else { break };
                query.after = Some(next);
            }
            assert_eq!(seen, all, "{limit} {bytes_max}");
        }
    }

    /// Are the groups of one name found, behind a place among them too, and none of another?
    #[test]
    fn groups_of_one_name() {
        let groups = [("a", "#"), ("a", "b"), ("a", "c"), ("ab", "#")];
        let mut query = GroupQuery { name: Some("a".into()), after: None, limit: 2, bytes_max: 1 << 20 };
        let merged = |query: &GroupQuery| GroupPage::merge(vec![shard(&groups, query)], query);
        let page = merged(&query);
        assert_eq!((page.groups.len(), page.next.as_deref()), (2, Some("a/b")));
        query.after = page.next;
        let page = merged(&query);
        assert_eq!((names(&page), page.next), (vec![("a".to_owned(), "c".to_owned())], None));
        query.after = Some("zz".into());
        let page = merged(&query);
        assert_eq!((page.groups.len(), page.matching, page.next), (0, 4, None));
    }
}
