//! What a shard finds on disk when it starts: sessions as their clients left them, retained messages.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::{PacketId, QoS, SubscriptionId, SubscriptionIds};
use lapwing_ledger::{DeliveryOptions, Fault, KeptGroup, KeptSession};
use lapwing_session::{KeptOptions, Restoration, Restored, Session, SessionKey, Settings, WillMessage};
use lapwing_store::journal::JournalReader;
use rustc_hash::FxHashMap;

use super::sessions::decode_grant;
use super::stored::{Stored, StoredMessage};
use super::{DATA_GROUP_COUNT, Kept, Origin, identity};
use crate::data_groups::{DataGroups, Doubt, Share};
use crate::error::NodeError;
use crate::holder::Holder;
use crate::mail::decode_frame;
use crate::shard::holds::HOLD_NAME;
use crate::shard::rights::standing::Standing;
use crate::slot::Slot;

/// What the log had when the node started.
#[derive(Clone)]
pub(crate) struct Recovered {
    /// By data group: the index of the next entry.
    pub(crate) next_index: [u64; DATA_GROUP_COUNT],
    pub(crate) data_groups: DataGroups,
    /// Consumer groups that were kept: see [`DataGroups::shares`].
    pub(crate) shares: Arc<BTreeMap<Box<str>, Share>>,
    pub(crate) reader: JournalReader,
}

/// What a message counts for in its queue beside its frame, roughly, and never more than it did before.
const MESSAGE_BYTES: u64 = 64;

/// One session that was kept.
pub(crate) struct RestoredSession {
    pub(crate) session: Session,
    pub(crate) kept: Kept,
    /// The entry that brought its will, if it has one.
    pub(crate) will: Option<NonZeroU64>,
    pub(crate) standing: Standing,
    /// Since when it has no connection, on the node's clock; `None`: it lost it with the node, and nobody wrote down when.
    pub(crate) away_since_ms: Option<u64>,
    /// QoS 2 messages of its client that the log does not know to be in doubt yet: packet ids and use numbers.
    pub(crate) doubts: Vec<(PacketId, u64)>,
    /// Filters whose retained messages it was promised, and has not all had.
    pub(crate) owed: Vec<Box<str>>,
}

/// One consumer group that was kept.
pub(crate) struct RestoredGroup {
    pub(crate) kept: Kept,
    pub(crate) name: Box<str>,
    pub(crate) filter: Box<str>,
    /// What it had not finished, in order, each with its entry.
    pub(crate) messages: Vec<(NonZeroU64, StoredMessage)>,
    /// Of that, what it need not have: sessions have it as their own, or its loss was accepted.
    pub(crate) over: Vec<NonZeroU64>,
}

/// One retained message that was kept.
pub(crate) struct RestoredMessage {
    pub(crate) message: Arc<lapwing_session::Message>,
    /// Hash of its publisher's client id.
    pub(crate) publisher: u64,
    /// Whose it is, if there was a share then.
    pub(crate) holder: Option<Holder>,
}

impl Recovered {
    /// Filters of the holds that the log has.
    pub(crate) fn holds(&self) -> Vec<Box<str>> {
        let filter = |share: &str| share.strip_prefix(HOLD_NAME)?.strip_prefix('/').map(Box::from);
        self.shares.keys().filter_map(|share| filter(share)).collect()
    }

    /// Makes sessions and retained messages of what a data group has.
    ///
    /// # Errors
    /// `Store`, `Entry`: the log cannot be read, or holds what this program does not understand.
    pub(crate) fn restore(
        &self,
        data_group: u16,
        settings: &Arc<Settings>,
        now_ms: u64,
        sink: &mut impl RestoreSink,
    ) -> Result<(), NodeError> {
        let stored = Stored::read(self, data_group, now_ms)?;
        let doubts = self.data_groups.doubts(data_group);
        let state = self.data_groups.get(data_group);
        for kept in state.sessions() {
            let of_session: Vec<Doubt> = doubts.iter().filter(|doubt| doubt.session == kept.id()).copied().collect();
            let restored = restore_session(kept, &stored, &of_session, (sink.next_key(), settings), now_ms);
            sink.session(restored.map_err(|fault| NodeError::Entry { data_group, index: kept.id().0, fault })?);
        }
        let groups: Vec<_> = state.groups().map(|kept| unfinished(kept, &stored)).collect();
        for stored in state.retained().filter_map(|(_, index)| stored.message(index)) {
            let StoredMessage { message, publisher, holder, .. } = stored.clone();
            sink.retained(&RestoredMessage { message, publisher, holder });
        }
        // Every data group is asked next, this one too.
        drop(state);
        for mut restored in groups {
            // What a hold has offered to several it offers again: those who have it already are known by its origin.
            if &*restored.name != HOLD_NAME {
                self.sort_out(&mut restored);
            }
            sink.group(restored);
        }
        Ok(())
    }

    /// Finds out which QoS 2 messages of a consumer group are in the hands of sessions already: those that are logged anywhere
    /// with the group as their origin.
    fn sort_out(&self, restored: &mut RestoredGroup) {
        let RestoredGroup { kept, messages, over, .. } = restored;
        messages.retain(|(entry, stored)| {
            let is_handed_over = stored.message.publish().qos == QoS::ExactlyOnce
                && self.data_groups.having(&Origin::of_group(*kept, *entry, entry.get()).logged()) != 0;
            over.extend(is_handed_over.then_some(*entry));
            !is_handed_over
        });
    }
}

/// Takes what a data group has: the shard, which makes live sessions, groups and retained messages of it.
pub(crate) trait RestoreSink {
    /// The name of the next session.
    fn next_key(&mut self) -> SessionKey;
    /// A session of that name.
    fn session(&mut self, restored: RestoredSession);
    /// A consumer group; members' sessions may come later.
    fn group(&mut self, restored: RestoredGroup);
    /// A retained message.
    fn retained(&mut self, restored: &RestoredMessage);
}

fn unfinished(kept: &KeptGroup, stored: &Stored) -> RestoredGroup {
    let (mut messages, mut over) = (Vec::new(), Vec::new());
    for entry in kept.queue().filter_map(NonZeroU64::new) {
        match stored.message(entry.get()) {
            Some(message) => messages.push((entry, message.clone())),
            None => over.push(entry),
        }
    }
    RestoredGroup {
        kept: Kept { id: kept.id(), slot: Slot::of_group(kept.name(), kept.filter()) },
        name: kept.name().into(),
        filter: kept.filter().into(),
        messages,
        over,
    }
}

fn restore_session(
    kept: &KeptSession,
    stored: &Stored,
    doubts: &[Doubt],
    (key, settings): (SessionKey, &Arc<Settings>),
    now_ms: u64,
) -> Result<RestoredSession, Fault> {
    let id = NonZeroU64::new(kept.id().0).ok_or(malformed("a session has the number 0"))?;
    let doubts = doubts.iter().map(|doubt| Ok((packet_id(doubt.packet_id)?, doubt.use_number)));
    let doubts = doubts.collect::<Result<Vec<_>, Fault>>()?;
    let away_ms = kept.disconnected_at_ms().map(|at_ms| now_ms.saturating_sub(at_ms));
    let remaining_ms =
        (kept.expiry_s() != u32::MAX).then(|| (u64::from(kept.expiry_s()) * 1000).saturating_sub(away_ms.unwrap_or(0)));
    let will = kept.will().map(|will| {
        let delay_ms = (u64::from(will.delay_s) * 1000).saturating_sub(away_ms.unwrap_or(0));
        (will, delay_ms)
    });
    let will_entry = will.and_then(|(will, _)| stored.will(will.entry));
    let will_frame = will_entry.as_ref().and_then(|entry| entry.will()).and_then(|will| decode_frame(will.frame));
    let will = will.zip(will_frame).map(|((will, delay_ms), publish)| {
        let message = WillMessage { publish, delay_s: will.delay_s, message_expiry_s: will.message_expiry_s };
        (message, delay_ms)
    });
    let mut restoration = Restoration::new(Restored {
        client_id: kept.client_id(),
        key,
        settings,
        id,
        expiry_s: kept.expiry_s(),
        remaining_ms,
        will,
        away_since: kept.away_since().and_then(NonZeroU64::new),
        next_use: doubts.last().map_or(kept.next_use(), |(_, use_number)| use_number + 1),
        now_ms,
    });
    let mut owed = Vec::new();
    for subscription in kept.subscriptions() {
        let grant = decode_grant(subscription.grant);
        let (grant, is_owed) = grant.ok_or(malformed("a subscription's grant is none"))?;
        restoration.subscribed(subscription.filter, grant);
        owed.extend(is_owed.then(|| subscription.filter.into()));
    }
    restore_messages(kept, &mut restoration)?;
    for (packet_id, use_number) in &doubts {
        restoration.doubted(*packet_id, *use_number);
    }
    let identity = identity::decode(kept.identity()).ok_or(malformed("a session's identity is none"))?;
    let slot = Slot::of(kept.client_id().as_bytes());
    Ok(RestoredSession {
        session: restoration.finish(),
        kept: Kept { id: kept.id(), slot },
        will: kept.will().and_then(|will| NonZeroU64::new(will.entry)),
        standing: Standing { identity, who: None },
        away_since_ms: kept.disconnected_at_ms(),
        doubts,
        owed,
    })
}

/// The queue, as references, and both directions of QoS 2.
fn restore_messages(kept: &KeptSession, restoration: &mut Restoration) -> Result<(), Fault> {
    let mut sent = FxHashMap::default();
    for flight in kept.flights() {
        let id = packet_id(flight.packet_id)?;
        let entry = NonZeroU64::new(flight.entry).ok_or(malformed("an entry has the number 0"))?;
        if flight.pubrec_received {
            restoration.pubrec_received(id, entry);
        } else {
            sent.insert(flight.entry, id);
        }
    }
    // Millions may wait: they are looked at once, and what is seldom there costs nothing.
    for (index, options, frame_bytes) in kept.references() {
        let id = if sent.is_empty() { None } else { sent.get(&index).copied() };
        let entry = NonZeroU64::new(index).ok_or(malformed("an entry has the number 0"))?;
        let bytes = frame_bytes + MESSAGE_BYTES;
        with_options(options, |options| restoration.paged(options, entry, bytes, id))?;
    }
    for (id, _) in kept.received() {
        restoration.received(packet_id(id)?);
    }
    for (id, use_number) in kept.doubted() {
        restoration.doubted(packet_id(id)?, use_number);
    }
    Ok(())
}

fn packet_id(id: u16) -> Result<PacketId, Fault> {
    PacketId::new(id).ok_or(malformed("a packet id is 0"))
}

/// The log's delivery options as the session has them.
fn with_options(options: DeliveryOptions<'_>, work: impl FnOnce(KeptOptions<'_>)) -> Result<(), Fault> {
    let qos = QoS::from_u8(options.qos).ok_or(malformed("a QoS above 2"))?;
    if options.ids.is_empty() {
        work(KeptOptions { qos, retain: options.retain, ids: SubscriptionIds::EMPTY });
        return Ok(());
    }
    let ids: Option<Vec<SubscriptionId>> = options.ids.iter().map(SubscriptionId::new).collect();
    let ids = ids.ok_or(malformed("a subscription identifier that is none"))?;
    work(KeptOptions { qos, retain: options.retain, ids: SubscriptionIds::from_slice(&ids) });
    Ok(())
}

const fn malformed(what: &'static str) -> Fault {
    Fault::Malformed { at: 0, what }
}
