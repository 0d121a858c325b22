//! What subscriptions of kept sessions are owed: a replay that a restart interrupts begins anew when the node is there again.
//!
//! The entry that logs a subscription says that its retained messages are owed, and goes to the disk before the SUBACK leaves.
//! When the last of them is the session's, the subscription is logged once more, as one to which nothing is owed: behind all
//! that the replay has brought, in the same data group, so that no crash keeps that word and loses a message. Nobody waits for it.
//!
//! The log has one word per subscription, the last. So a SUBSCRIBE that asks for nothing repeats what is owed from the one
//! before, and the end of a replay says nothing while a later SUBSCRIBE has asked for another one: they are told by number.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lapwing_session::{Grant, SessionKey};
use rustc_hash::FxBuildHasher;

use super::Before;
use crate::shard::Shard;
use crate::shard::retained::RetainedRoom;

/// The subscriptions of one shard that are owed their retained messages, as the log says.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    /// By filter, the number of the last SUBSCRIBE that asked. At most one for each subscription.
    by_session: HashMap<SessionKey, BTreeMap<Box<str>, u64>, FxBuildHasher>,
    last: u64,
    /// Replays that came to their end, and of which the log has not been told.
    ended: Vec<(SessionKey, Arc<str>)>,
}

impl Owed {
    /// The log says, or is about to say, that this subscription is owed its retained messages; returns the number of that.
    pub(crate) fn owe(&mut self, key: SessionKey, filter: &str) -> u64 {
        self.last += 1;
        self.by_session.entry(key).or_default().insert(filter.into(), self.last);
        self.last
    }

    /// Whether retained messages are owed to this subscription.
    pub(crate) fn has(&self, key: SessionKey, filter: &str) -> bool {
        self.by_session.get(&key).is_some_and(|filters| filters.contains_key(filter))
    }

    /// The subscription, or with it its session, is over.
    pub(super) fn cancel(&mut self, key: SessionKey, filter: &str) {
        if let Some(filters) = self.by_session.get_mut(&key) {
            filters.remove(filter);
            if filters.is_empty() {
                self.by_session.remove(&key);
            }
        }
    }

    /// The session is over.
    pub(super) fn forget(&mut self, key: SessionKey) {
        self.by_session.remove(&key);
    }

    /// The replay that was owed by this number is over: unless another one is owed by now the log is told.
    pub(super) fn replayed(&mut self, key: SessionKey, filter: &Arc<str>, number: u64) {
        let last = self.by_session.get(&key).and_then(|filters| filters.get(&**filter));
        if last == Some(&number) {
            self.cancel(key, filter);
            self.ended.push((key, filter.clone()));
        }
    }

    /// Those that the log has to hear of.
    fn take_ended(&mut self) -> Vec<(SessionKey, Arc<str>)> {
        let mut ended = std::mem::take(&mut self.ended);
        // It may have been subscribed to again since.
        ended.retain(|(key, filter)| !self.has(*key, filter));
        ended
    }

    /// Everything that is owed, by session.
    fn all(&self) -> Vec<(SessionKey, Box<str>, u64)> {
        let each = |(key, filters): (&SessionKey, &BTreeMap<Box<str>, u64>)| {
            filters.iter().map(|(filter, number)| (*key, filter.clone(), *number)).collect::<Vec<_>>()
        };
        self.by_session.iter().flat_map(each).collect()
    }
}

impl RetainedRoom {
    /// A subscription of a kept session asks for retained messages: they are to be owed in the log; returns the number of that.
    ///
    /// `None`: there is nothing to owe. On a single shard that is so where nothing is retained under the filter: what comes from now on
    /// comes live. Of several, another one may not have heard of the subscription yet, and what it retains meanwhile comes by the
    /// replay only.
    pub(in crate::shard) fn owe(&mut self, key: SessionKey, filter: &str, shards: u32, now_ms: u64) -> Option<u64> {
        let is_nothing = shards == 1 && !self.table.has_any(filter, now_ms) && !self.replays.owed.has(key, filter);
        (!is_nothing).then(|| self.replays.owed.owe(key, filter))
    }
}

impl Shard {
    /// The node has started, and all shards know of each other's subscriptions: what was owed before is sent, from its start. Its
    /// client may have had some of it already.
    pub(in crate::shard) fn begin_owed_replays(&mut self) {
        for (key, filter, number) in self.retained.replays.owed.all() {
            let (delivered, lost) = (self.retained.sequences.delivered.watch(), self.lost_by(key));
            self.start_replay(&filter, Before { delivered, lost, owed: Some(number) }, key);
        }
    }

    /// The log hears of replays that came to their end in this turn, if their subscriptions are still there.
    pub(super) fn tell_replayed(&mut self) {
        let ended = self.retained.replays.owed.take_ended();
        for of_session in ended.chunk_by(|(one, _), (other, _)| one == other) {
            let Some(row) = self.clients.row(of_session[0].0) else { continue };
            let grant = |(_, filter): &(SessionKey, Arc<str>)| Some(((**filter).into(), row.session.grant(filter)?));
            let granted: Vec<(Box<str>, Grant)> = of_session.iter().filter_map(grant).collect();
            self.keep_replayed(of_session[0].0, &granted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: SessionKey = SessionKey(1);

    /// Is a replay's end told once, and only when no later SUBSCRIBE has asked for another one?
    #[test]
    fn an_end_counts_for_the_last_that_asked() {
        let (mut owed, filter) = (Owed::default(), Arc::<str>::from("a/#"));
        let (first, second) = (owed.owe(ONE, &filter), owed.owe(ONE, &filter));
        owed.replayed(ONE, &filter, first);
        assert!(owed.has(ONE, &filter) && owed.take_ended().is_empty());
        owed.replayed(ONE, &filter, second);
        owed.replayed(ONE, &filter, second);
        assert!(!owed.has(ONE, &filter));
        assert_eq!(owed.take_ended(), [(ONE, filter.clone())]);
        assert!(owed.take_ended().is_empty() && owed.by_session.is_empty());
    }

    /// Is an end not told that a new SUBSCRIBE follows in the same turn, and is nothing left of what was cancelled?
    #[test]
    fn what_is_asked_for_again_stays_owed() {
        let (mut owed, filter) = (Owed::default(), Arc::<str>::from("a"));
        let first = owed.owe(ONE, &filter);
        owed.replayed(ONE, &filter, first);
        let again = owed.owe(ONE, &filter);
        assert!(owed.take_ended().is_empty());
        assert_eq!(owed.all(), [(ONE, "a".into(), again)]);
        owed.cancel(ONE, &filter);
        owed.replayed(ONE, &filter, again);
        assert!(owed.take_ended().is_empty() && owed.by_session.is_empty());
        owed.owe(ONE, "b");
        owed.forget(ONE);
        assert!(owed.all().is_empty());
    }
}
