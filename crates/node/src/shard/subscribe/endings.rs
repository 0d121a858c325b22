//! Sessions that are over: what goes at once, and subscriptions that are taken out of the filter tree by and by.
//!
//! A session may leave tens of thousands of subscriptions. Taken out in one turn they would hold up all others, so they
//! go in shares, one in a millisecond; what is routed meanwhile finds no session behind them. Groups are left at once:
//! they would pick it.

use std::collections::VecDeque;
use std::sync::Arc;

use lapwing_session::{Session, SessionKey};

use crate::holder::Holder;
use crate::hooks::HookClient;
use crate::shard::connections::back_pressure::{FILTERS_PER_SHARE, SHARE_PAUSE_MS};
use crate::shard::connections::session_row::SessionRow;
use crate::shard::groups::Membership;
use crate::shard::{Due, Shard};

/// So many shares take out what waits, however much it is: new endings never outrun the old.
const SHARES_AT_MOST: u64 = 64;

impl Shard {
    /// The session of a row that has been taken out of the table is over.
    pub(in crate::shard) fn end_row(&mut self, mut row: SessionRow) {
        if let Some(qos) = row.session.will().map(|will| will.publish.qos) {
            self.owe_will_of(&mut row.kept_as, row.session.shared_client_id(), qos);
        }
        self.keep_ended(row.session.shared_client_id(), *row.kept_as);
        let holder = self.holder_by(row.standing.identity.name(), row.session.shared_client_id());
        let who = row.standing.who.as_ref();
        self.end_session(row.session, &row.membership, (who, holder), row.kept_as.is_keeper);
    }

    /// A session is over: its subscriptions go, and a will that still waited is published.
    pub(in crate::shard) fn end_session(
        &mut self,
        mut session: Session,
        membership: &Membership,
        (who, holder): (Option<&Arc<HookClient>>, Option<Holder>),
        is_keeper: bool,
    ) {
        let key = session.key();
        self.retained.replays.forget(key);
        self.tell_end(&mut session, membership);
        let ended = session.end(self.now_ms, &mut self.clients.counters);
        for subscription in ended.subscriptions().filter(|subscription| subscription.shared.is_some()) {
            self.uncount(&subscription);
        }
        if let Some(will) = &ended.will {
            self.publish_will(will, ended.client_id(), who, holder);
        }
        let filters = ended.into_filters().filter(|filter| !filter.starts_with("$share/")).collect();
        let is_first = self.subscriptions.endings.is_empty();
        self.subscriptions.endings.add(key, is_keeper, filters);
        if is_first {
            self.withdraw_ended();
        }
    }

    /// Takes a share of ended sessions' subscriptions out of the tree, as far as there is room for mail; the rest later.
    pub(in crate::shard) fn withdraw_ended(&mut self) {
        for _ in 0..self.subscriptions.endings.share() {
            if !self.mail.post.has_credit() {
                break;
            }
            let Some((key, is_keeper, filter)) = self.subscriptions.endings.next() else { break };
            self.withdraw_filter(key, &filter, is_keeper);
        }
        // One timer as long as something waits: who adds to nothing begins anew.
        if !self.subscriptions.endings.is_empty() {
            self.timers.add(self.now_ms + SHARE_PAUSE_MS, Due::Endings);
        }
    }
}

/// Subscriptions whose sessions are over, the oldest first.
#[derive(Debug, Default)]
pub(in crate::shard) struct Endings {
    sessions: VecDeque<(SessionKey, bool, std::vec::IntoIter<Box<str>>)>,
    filters: u64,
}

impl Endings {
    /// `is_keeper`: the other shards know the session as one that is kept.
    fn add(&mut self, key: SessionKey, is_keeper: bool, filters: Vec<Box<str>>) {
        self.filters += filters.len() as u64;
        self.sessions.push_back((key, is_keeper, filters.into_iter()));
    }

    fn next(&mut self) -> Option<(SessionKey, bool, Box<str>)> {
        loop {
            let (key, is_keeper, filters) = self.sessions.front_mut()?;
            if let Some(filter) = filters.next() {
                self.filters -= 1;
                return Some((*key, *is_keeper, filter));
            }
            self.sessions.pop_front();
        }
    }

    fn share(&self) -> u64 {
        FILTERS_PER_SHARE.max(self.filters / SHARES_AT_MOST)
    }

    fn is_empty(&self) -> bool {
        self.filters == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do they come out one by one, oldest session first, and is none left out or counted twice?
    #[test]
    fn filters_come_out_in_the_order_of_the_endings() {
        let mut endings = Endings::default();
        endings.add(SessionKey(1), true, vec!["a".into(), "b".into()]);
        endings.add(SessionKey(2), false, vec![]);
        endings.add(SessionKey(3), false, vec!["a".into()]);
        let all: Vec<_> = std::iter::from_fn(|| endings.next()).map(|(key, is, filter)| (key.0, is, filter)).collect();
        assert_eq!(all, [(1, true, "a".into()), (1, true, "b".into()), (3, false, "a".into())]);
        assert!(endings.is_empty());
    }

    /// Is a great backlog taken out in shares that grow with it?
    #[test]
    fn the_share_grows_with_what_waits() {
        let mut endings = Endings::default();
        assert_eq!(endings.share(), FILTERS_PER_SHARE);
        endings.add(SessionKey(1), false, vec!["a".into(); 64 * 1000]);
        assert_eq!(endings.share(), 1000);
    }
}
