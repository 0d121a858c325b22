//! Wills on their way to who keeps them: until they are kept, the log has them with their sessions.
//!
//! That a session is over, or has no will any more, is an entry of this shard; whoever keeps the will may be another one. Were
//! the entry on disk first, a crash in between would lose the will. So the entry waits for the will's commit token, as a PUBACK
//! does. After a crash before it the will goes out once more, under a name that stays the same: where it is kept with QoS 2 it is
//! known by that.
//!
//! A CONNECT of the same client waits meanwhile: what it has written down would stand in the place of that entry.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_access::Identity;
use lapwing_codec::{PacketId, QoS};
use lapwing_ledger::Changed;
use lapwing_session::{Accepted, CommitToken, SessionKey};
use rustc_hash::FxHashMap;

use crate::desk::Reply;
use crate::log::LogFeed;
use crate::shard::Shard;
use crate::shard::connections::connection::Pause;
use crate::shard::durable::keeping::{Kept, LoggedAs, Origin};

/// Names one will for as long as it is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Debt(u64);

/// The will of a session, as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoggedWill {
    /// The entry that brought it.
    pub(crate) entry: NonZeroU64,
    /// It was there when the node started, and may have gone out before.
    pub(crate) is_restored: bool,
}

/// What is written down when the will is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The session has no will any more.
    Spent,
    /// It is over.
    Ended,
}

struct OwedWill {
    debt: Debt,
    kept: Kept,
    will: LoggedWill,
    then: Then,
    /// Connections whose CONNECT waits: place and number.
    connects: Vec<(usize, u64)>,
    /// Operators who have ended the session and wait for that.
    replies: Vec<Reply<bool>>,
}

/// Wills of one shard that have gone out and are not written down as spent yet.
#[derive(Default)]
pub(in crate::shard) struct OwedWills {
    by_client: FxHashMap<Arc<str>, OwedWill>,
    /// Those that were routed, with their commit tokens, which ascend.
    line: VecDeque<(CommitToken, Debt, Arc<str>)>,
    last: u64,
}

impl OwedWills {
    /// The will of a session goes out now; `qos`: its own. Nothing is owed of one that nobody has to keep, or that no log has.
    pub(in crate::shard) fn owe(&mut self, kept_as: &mut LoggedAs, client_id: &Arc<str>, qos: QoS) {
        if !qos.is_acknowledged() {
            return;
        }
        let (Some(kept), Some(will)) = (kept_as.logged(), kept_as.will) else { return };
        kept_as.edit().will = None;
        self.last += 1;
        let debt = Debt(self.last);
        // There may be one before, where a full disk has kept nobody waiting; who waits for it waits for this one.
        let before = self.by_client.remove(client_id);
        let (connects, replies) = before.map(|before| (before.connects, before.replies)).unwrap_or_default();
        let owed = OwedWill { debt, kept, will, then: Then::Spent, connects, replies };
        self.by_client.insert(client_id.clone(), owed);
    }

    /// What is owed of a client's, if something is.
    fn debt(&self, client_id: &str) -> Option<Debt> {
        self.by_client.get(client_id).map(|owed| owed.debt)
    }

    /// The name that the will has also after a crash.
    fn origin(&self, client_id: &str, debt: Option<Debt>) -> Option<Origin> {
        let owed = self.by_client.get(client_id).filter(|owed| Some(owed.debt) == debt)?;
        let entry = owed.will.entry.get();
        let publisher = Kept { id: owed.kept.id.of_will(), ..owed.kept };
        // A session has one will at a time: with this one those before it are settled.
        let of = lapwing_session::Origin { packet_id: PacketId::MIN, use_number: entry, settled: entry };
        Some(Origin { publisher, of, is_resent: owed.will.is_restored })
    }

    /// The session is over; false: nothing is owed, and that may be written down now.
    fn ended(&mut self, client_id: &str, kept: Kept) -> bool {
        let owed = self.by_client.get_mut(client_id).filter(|owed| owed.kept == kept);
        owed.map(|owed| owed.then = Then::Ended).is_some()
    }

    fn settle(&mut self, client_id: &str, debt: Debt) -> Option<OwedWill> {
        self.by_client.get(client_id).filter(|owed| owed.debt == debt)?;
        self.by_client.remove(client_id)
    }
}

impl Shard {
    /// The will of a session in the table goes out with what is done next; `qos`: its own.
    pub(in crate::shard) fn owe_will(&mut self, key: SessionKey, qos: QoS) {
        if let Some(row) = self.clients.row(key) {
            self.durable.owed_wills.owe(&mut row.kept_as, row.session.shared_client_id(), qos);
        }
    }

    /// The same for one that is out of the table.
    pub(in crate::shard) fn owe_will_of(&mut self, kept_as: &mut LoggedAs, client_id: &Arc<str>, qos: QoS) {
        self.durable.owed_wills.owe(kept_as, client_id, qos);
    }

    pub(in crate::shard) fn will_debt(&self, client_id: &str) -> Option<Debt> {
        self.durable.owed_wills.debt(client_id)
    }

    /// The name of a will of QoS 2 that is owed.
    pub(in crate::shard) fn will_origin(&self, client_id: &str, debt: Option<Debt>, qos: QoS) -> Option<Origin> {
        self.durable.owed_wills.origin(client_id, debt).filter(|_| qos == QoS::ExactlyOnce)
    }

    /// A session is over; true when that is written down later.
    pub(in crate::shard) fn ends_with_will(&mut self, client_id: &str, kept: Kept) -> bool {
        self.durable.owed_wills.ended(client_id, kept)
    }

    /// A will was routed, or dropped under a reason of its own (`None`).
    pub(in crate::shard) fn will_went(&mut self, client_id: &str, debt: Option<Debt>, accepted: Option<Accepted>) {
        let Some(debt) = debt else { return };
        match accepted {
            Some(Accepted::Later(token)) => self.durable.owed_wills.line.push_back((token, debt, client_id.into())),
            _ => self.settle_will(client_id, debt),
        }
    }

    /// Everything up to `through` is committed: what waited for these wills to be on disk is written down now.
    pub(in crate::shard) fn wills_committed(&mut self, through: CommitToken) {
        while self.durable.owed_wills.line.front().is_some_and(|(token, ..)| *token <= through)
            && let Some((_, debt, client_id)) = self.durable.owed_wills.line.pop_front()
        {
            self.settle_will(&client_id, debt);
        }
    }

    fn settle_will(&mut self, client_id: &str, debt: Debt) {
        let Some(owed) = self.durable.owed_wills.settle(client_id, debt) else { return };
        let row = self.clients.find(client_id).and_then(|key| self.clients.row(key));
        let has_another = row.is_some_and(|row| row.kept_as.will.is_some());
        if let (Some(log), Some(keeping)) = (&mut self.durable.log, &mut self.clients.keeping) {
            match owed.then {
                Then::Ended => keeping.ended(owed.kept),
                Then::Spent if has_another => {}
                Then::Spent => {
                    let changed = Changed { will: Some(None), ..Changed::of(owed.kept.id) };
                    keeping.change(log, owed.kept, changed, false);
                }
            }
        }
        for reply in owed.replies {
            self.answer_ended(reply);
        }
        for (index, born) in owed.connects {
            if self.clients.connection(index).is_some_and(|connection| connection.born == born) {
                self.leave_gate(index);
            }
        }
    }

    /// An operator who has ended a session hears of it when that is on disk; gives the reply back where nothing is owed.
    pub(in crate::shard) fn answer_with_will(&mut self, client_id: &str, reply: Reply<bool>) -> Option<Reply<bool>> {
        match self.durable.owed_wills.by_client.get_mut(client_id) {
            Some(owed) => owed.replies.push(reply),
            None => return Some(reply),
        }
        None
    }

    /// Whether a CONNECT waits for a will of its client's: one that is on its way, or that it sends on its way now, because it
    /// takes the session over or begins another one. A full disk keeps nobody waiting.
    pub(in crate::shard) fn must_wait_for_will(
        &mut self,
        index: usize,
        client_id: &str,
        identity: &Identity,
        clean_start: bool,
    ) -> bool {
        self.make_way(client_id, identity, clean_start);
        if self.durable.log.as_ref().is_some_and(LogFeed::is_disk_full) {
            return false;
        }
        let Some(owed) = self.durable.owed_wills.by_client.get_mut(client_id) else { return false };
        let Some(connection) = self.clients.connection(index) else { return false };
        owed.connects.push((index, connection.born));
        connection.paused = Some(Pause::Gate);
        true
    }

    /// Ends what a CONNECT would end anyway, where the log has a will of it.
    fn make_way(&mut self, client_id: &str, identity: &Identity, clean_start: bool) {
        let Some(key) = self.clients.find(client_id) else { return };
        let Some(row) = self.clients.row(key).filter(|row| row.kept_as.will.is_some()) else { return };
        if let Some(former) = row.connection() {
            self.take_over(former, key);
        }
        let Some(row) = self.clients.row(key).filter(|row| row.kept_as.will.is_some()) else { return };
        if clean_start || row.standing.identity != *identity {
            self.left_offline();
            self.remove_session(key);
            self.count_sessions();
        }
    }
}
