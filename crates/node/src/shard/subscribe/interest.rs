//! What this shard has told the others it wants, and who waits until they have all heard it.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxBuildHasher;

use crate::mail::{Control, Interest};
use crate::shard::mail::post::Post;
use crate::slot::ShardId;

/// One filter that this shard wants.
#[derive(Debug)]
struct Wanted {
    /// Subscriptions (or groups) behind it; announced at the first, withdrawn after the last.
    count: u32,
    /// The announcement that made it known.
    seq: u64,
}

/// Announcements of one shard. `W` is what waits for them.
#[derive(Debug)]
pub(crate) struct Announcer<W> {
    own: ShardId,
    seq: u64,
    /// Per shard, the last announcement in force there; this shard's own place is not used.
    announced: Vec<u64>,
    sessions: HashMap<Box<str>, Wanted, FxBuildHasher>,
    groups: HashMap<Box<str>, Wanted, FxBuildHasher>,
    kept: HashMap<Box<str>, Wanted, FxBuildHasher>,
    waiting: BTreeMap<u64, Vec<W>>,
}

impl<W> Announcer<W> {
    pub(crate) fn new(own: ShardId, shards: u32) -> Self {
        Announcer {
            own,
            seq: 0,
            announced: vec![0; shards as usize],
            sessions: HashMap::default(),
            groups: HashMap::default(),
            kept: HashMap::default(),
            waiting: BTreeMap::new(),
        }
    }

    /// Counts one more that wants `filter` (if `is_new`); returns the announcement to wait for, unless it is in force
    /// everywhere.
    pub(crate) fn want(&mut self, interest: Interest, filter: &str, is_new: bool, post: &mut Post) -> Option<u64> {
        if self.announced.len() <= 1 {
            return None;
        }
        if let Some(wanted) = self.table(interest).get_mut(filter) {
            wanted.count += u32::from(is_new);
            let seq = wanted.seq;
            return (seq > self.in_force()).then_some(seq);
        }
        self.seq += 1;
        let seq = self.seq;
        self.table(interest).insert(filter.into(), Wanted { count: 1, seq });
        self.tell(interest, filter, true, post);
        Some(seq)
    }

    /// Counts one less; withdraws the interest after the last.
    pub(crate) fn unwant(&mut self, interest: Interest, filter: &str, post: &mut Post) {
        if self.announced.len() <= 1 {
            return;
        }
        let table = self.table(interest);
        let Some(wanted) = table.get_mut(filter) else { return };
        wanted.count -= 1;
        if wanted.count == 0 {
            table.remove(filter);
            self.seq += 1;
            self.tell(interest, filter, false, post);
        }
    }

    /// Lets `waiter` wait for announcement `seq`.
    pub(crate) fn wait(&mut self, seq: u64, waiter: W) {
        self.waiting.entry(seq).or_default().push(waiter);
    }

    /// Shard `from` has applied everything up to `seq`; returns who has waited long enough.
    pub(crate) fn announced(&mut self, from: ShardId, seq: u64) -> Vec<W> {
        self.announced[from.index()] = seq;
        let later = self.waiting.split_off(&(self.in_force() + 1));
        std::mem::replace(&mut self.waiting, later).into_values().flatten().collect()
    }

    /// True when every shard knows all that was ever announced.
    pub(crate) fn is_settled(&self) -> bool {
        self.in_force() >= self.seq
    }

    fn in_force(&self) -> u64 {
        let others = self.announced.iter().enumerate().filter(|(shard, _)| *shard != self.own.index());
        others.map(|(_, seq)| *seq).min().unwrap_or(u64::MAX - 1)
    }

    fn tell(&self, interest: Interest, filter: &str, add: bool, post: &mut Post) {
        for shard in (0..self.announced.len()).filter(|shard| *shard != self.own.index()) {
            let filter = filter.into();
            post.control(ShardId(shard as u8), Control::Announce { seq: self.seq, interest, filter, add });
        }
    }

    fn table(&mut self, interest: Interest) -> &mut HashMap<Box<str>, Wanted, FxBuildHasher> {
        match interest {
            Interest::Sessions => &mut self.sessions,
            Interest::Groups => &mut self.groups,
            Interest::Kept => &mut self.kept,
        }
    }
}
