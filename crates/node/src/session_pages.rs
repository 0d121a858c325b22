//! A page of sessions: which fit, in which order, and where it ends.

use std::cmp::Reverse;
use std::sync::Arc;

use serde::Serialize;

use crate::session_reports::SessionReport;

/// Bytes of the names on one page, from which no further session is on it: clients choose how long their names are, and whoever
/// asks for 10,000 sessions gets so much less of them at a time.
const PAGE_NAME_BYTES_MAX: usize = 1 << 20;

/// By what the sessions of a list are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionOrder {
    /// Ascending by client id: a list that can be gone through page by page.
    #[default]
    ClientId,
    /// Those for whom the most messages wait come first.
    Messages,
    /// Those for whom the most bytes wait come first.
    Bytes,
}

impl SessionOrder {
    /// The order that a longest queue is found by: "messages" or "bytes".
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "messages" => Some(SessionOrder::Messages),
            "bytes" => Some(SessionOrder::Bytes),
            _ => None,
        }
    }
}

/// Which sessions are wanted.
#[derive(Clone, Debug, Default)]
pub struct SessionQuery {
    /// Client ids begin so.
    pub prefix: String,
    /// Client ids come behind this one.
    pub after: Option<String>,
    /// With a connection, or without one; `None`: both.
    pub connected: Option<bool>,
    /// Only those for whom messages wait: in their queue, or, while they are away, under way to them.
    pub waiting: bool,
    /// Which come first.
    pub order: SessionOrder,
    /// So many at most.
    pub limit: usize,
}

/// Where a session stands in a list: less is nearer to its beginning.
pub(crate) type Rank = (Reverse<u64>, Arc<str>);

impl SessionQuery {
    /// Whether a session is wanted, on whatever page.
    pub(crate) fn fits(&self, client_id: &str, is_connected: bool, queued: usize, inflight: usize) -> bool {
        client_id.starts_with(&self.prefix)
            && self.connected.is_none_or(|connected| connected == is_connected)
            && (!self.waiting || queued > 0 || (!is_connected && inflight > 0))
    }

    /// Whether it is behind the page before.
    pub(crate) fn is_next(&self, client_id: &str) -> bool {
        self.after.as_deref().is_none_or(|after| client_id > after)
    }

    /// The number by which it is ordered before its name is looked at.
    pub(crate) fn weight(&self, waiting_messages: usize, waiting_bytes: u64) -> Reverse<u64> {
        Reverse(match self.order {
            SessionOrder::ClientId => 0,
            SessionOrder::Messages => waiting_messages as u64,
            SessionOrder::Bytes => waiting_bytes,
        })
    }

    fn rank(&self, row: &SessionReport) -> (Reverse<u64>, String) {
        (self.weight(row.waiting_messages, row.waiting_bytes), row.client_id.clone())
    }
}

/// How much of a page is taken, session by session in their order. What a shard has for a page is cut as the page of all is: the
/// page of all ends where the first of its shards' does, or before.
#[derive(Debug, Default)]
pub(crate) struct PageRoom {
    name_bytes: usize,
}

impl PageRoom {
    /// Takes a session with so many bytes of names; false: the page has ended before it. The first one always has room.
    pub(crate) fn take(&mut self, name_bytes: usize) -> bool {
        let has_room = self.name_bytes < PAGE_NAME_BYTES_MAX;
        self.name_bytes += name_bytes;
        has_room
    }
}

/// What one shard, or all of them, have for one page.
#[derive(Debug, Default, Serialize)]
pub(crate) struct SessionPage {
    #[serde(skip)]
    pub(crate) sessions: Vec<SessionReport>,
    /// Sessions that fit, on whatever page.
    pub(crate) matching: u64,
    /// What waits for them.
    pub(crate) waiting_messages: u64,
    pub(crate) waiting_bytes: u64,
    /// Behind which client id the next page begins; None: that was all, or the list is in another order.
    pub(crate) next: Option<String>,
    /// Sessions that fit and are not on a page before.
    #[serde(skip)]
    pub(crate) left: u64,
}

impl SessionPage {
    /// The pages of all shards as one.
    pub(crate) fn merge(pages: Vec<SessionPage>, query: &SessionQuery) -> SessionPage {
        let mut all = SessionPage::default();
        for page in pages {
            all.sessions.extend(page.sessions);
            all.matching += page.matching;
            all.waiting_messages += page.waiting_messages;
            all.waiting_bytes += page.waiting_bytes;
            all.left += page.left;
        }
        all.sessions.sort_by_cached_key(|row| query.rank(row));
        let mut room = PageRoom::default();
        let fitting = all.sessions.iter().take(query.limit).take_while(|row| room.take(row.name_bytes())).count();
        all.sessions.truncate(fitting);
        let has_more = all.left > all.sessions.len() as u64 && query.order == SessionOrder::ClientId;
        all.next = all.sessions.last().filter(|_| has_more).map(|last| last.client_id.clone());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(client_id: &str, waiting_messages: usize) -> SessionReport {
        SessionReport {
            client_id: client_id.into(),
            user: None,
            is_connected: false,
            address: None,
            listener: None,
            connected_since_ms: None,
            bytes_in: None,
            bytes_out: None,
            version: None,
            away_since_ms: None,
            expiry_s: None,
            ends_in_s: None,
            subscriptions: 0,
            waiting_messages,
            waiting_bytes: 100,
            inflight_out: 0,
            inflight_in: 0,
            lost_messages: 0,
            lost_acknowledged: 0,
            is_durable: false,
            shard: 0,
        }
    }

    fn page(sessions: Vec<SessionReport>, left: u64) -> SessionPage {
        let waiting_messages = sessions.iter().map(|row| row.waiting_messages as u64).sum();
        SessionPage { sessions, matching: left, waiting_messages, waiting_bytes: 1, left, next: None }
    }

    fn ids(page: &SessionPage) -> Vec<&str> {
        page.sessions.iter().map(|row| &*row.client_id).collect()
    }

    /// Are the pages of two shards one page in order, cut to its limit, and does it say where the next one begins?
    #[test]
    fn pages_become_one_in_order() {
        let query = SessionQuery { limit: 3, ..SessionQuery::default() };
        let two = || vec![page(vec![row("b", 1), row("d", 9)], 2), page(vec![row("a", 5), row("c", 2)], 2)];
        let all = SessionPage::merge(two(), &query);
        assert_eq!((ids(&all), all.next.as_deref()), (vec!["a", "b", "c"], Some("c")));
        assert_eq!((all.matching, all.waiting_messages, all.waiting_bytes), (4, 17, 2));
        let all = SessionPage::merge(two(), &SessionQuery { limit: 4, ..query.clone() });
        assert_eq!((all.sessions.len(), all.next), (4, None));
        let longest = SessionQuery { order: SessionOrder::Messages, ..query };
        let all = SessionPage::merge(two(), &longest);
        assert_eq!((ids(&all), &all.next), (vec!["d", "a", "c"], &None));
    }

    /// Does a page of long names end early and go on behind its last one, so that all of them come, whatever shard cut its own?
    #[test]
    fn long_names_make_short_pages() {
        let id = |n: usize| format!("{n:02}{}", "x".repeat(PAGE_NAME_BYTES_MAX / 4));
        let mut query = SessionQuery { limit: 10_000, ..SessionQuery::default() };
        let (mut seen, mut pages) = (vec![], 0);
        loop {
            let left: Vec<String> = (0..20).map(id).filter(|id| query.is_next(id)).collect();
            let of_shard = |shard: usize| {
                let own: Vec<&String> = left.iter().skip(shard).step_by(2).collect();
                let mut room = PageRoom::default();
                let rows = own.iter().take_while(|id| room.take(id.len())).map(|id| row(id, 0)).collect();
                page(rows, own.len() as u64)
            };
            let all = SessionPage::merge(vec![of_shard(0), of_shard(1)], &query);
            assert!(all.sessions.len() <= 4, "{}", all.sessions.len());
            seen.extend(all.sessions.iter().map(|row| row.client_id.clone()));
            pages += 1;
            let Some(next) = all.next else { break };
            query.after = Some(next);
        }
        assert_eq!((seen, pages), ((0..20).map(id).collect(), 5));
        let huge = row(&"y".repeat(3 * PAGE_NAME_BYTES_MAX), 0);
        let all = SessionPage::merge(vec![page(vec![huge, row("z", 0)], 2)], &SessionQuery { after: None, ..query });
        assert_eq!(
            (all.sessions.len(), all.next.is_some()),
            (1, true),
            "one that is larger than a page has one of its own"
        );
    }

    /// Is a session wanted exactly when all that was asked holds for it?
    #[test]
    fn what_is_asked_must_all_hold() {
        let query = SessionQuery {
            prefix: "dev/".into(),
            after: Some("dev/2".into()),
            connected: Some(false),
            waiting: true,
            ..SessionQuery::default()
        };
        assert!(query.fits("dev/1", false, 1, 0) && !query.is_next("dev/1"));
        assert!(query.fits("dev/3", false, 1, 0) && query.is_next("dev/3") && !query.is_next("dev/2"));
        assert!(
            !query.fits("de", false, 1, 0) && !query.fits("dev/1", true, 1, 0) && !query.fits("dev/1", false, 0, 0)
        );
        assert!(SessionQuery::default().fits("", true, 0, 0) && SessionQuery::default().is_next(""));
    }

    /// Does what was sent to one that has gone count as waiting, and what is on its way to one that is here not?
    #[test]
    fn what_is_under_way_to_one_that_is_away_waits() {
        let query = SessionQuery { waiting: true, ..SessionQuery::default() };
        assert!(query.fits("x", false, 0, 1) && !query.fits("x", true, 0, 1) && query.fits("x", true, 1, 0));
    }
}
