//! A shard's outgoing mail: one set of lanes per other shard.

use lapwing_codec::Publish;
use lapwing_session::SessionKey;

use crate::log::LogFeed;
use crate::mail::{Assigned, Control, Direct, Parcel, RouteHeader};
use crate::mailbox::{Inlet, Lane};
use crate::slot::ShardId;
use crate::words::{Told, Word};

/// The lanes from this shard to one other.
pub(crate) struct LanesOut {
    pub(crate) express: Lane<Vec<Control>>,
    pub(crate) control: Lane<Vec<Control>>,
    pub(crate) publish: Lane<Parcel<RouteHeader>>,
    pub(crate) direct: Lane<Parcel<Direct>>,
}

/// The lanes from one other shard to this one.
pub(crate) struct LanesIn {
    pub(crate) from: ShardId,
    pub(crate) express: Inlet<Vec<Control>>,
    pub(crate) control: Inlet<Vec<Control>>,
    pub(crate) publish: Inlet<Parcel<RouteHeader>>,
    pub(crate) direct: Inlet<Parcel<Direct>>,
}

impl LanesIn {
    pub(crate) fn is_empty(&self) -> bool {
        self.express.is_empty() && self.control.is_empty() && self.publish.is_empty() && self.direct.is_empty()
    }
}

/// How much goes into one parcel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParcelLimits {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

/// All lanes out, by the index of the target; this shard's own place is empty.
pub(crate) struct Post {
    lanes: Vec<Option<LanesOut>>,
    limits: ParcelLimits,
}

impl Post {
    pub(crate) fn new(lanes: Vec<Option<LanesOut>>, limits: ParcelLimits) -> Self {
        Post { lanes, limits }
    }

    /// Number of shards, this one included.
    pub(crate) fn shards(&self) -> u32 {
        self.lanes.len() as u32
    }

    /// Sends a control message; to this shard itself nothing can be sent.
    pub(crate) fn control(&mut self, to: ShardId, message: Control) {
        match &mut self.lanes[to.index()] {
            Some(lanes) if message.is_express() => append(&mut lanes.express, message),
            Some(lanes) => append(&mut lanes.control, message),
            None => debug_assert!(false, "a shard sends itself nothing"),
        }
    }

    /// Adds a message to the open parcel for `to`; the caller asks [`Post::has_credit`] before the next one. `log`: this shard's
    /// way to it, where what the message rests on is written already.
    pub(crate) fn publish(
        &mut self,
        to: ShardId,
        header: RouteHeader,
        publish: &Publish<'_>,
        log: &mut Option<LogFeed>,
    ) {
        if let Some(lanes) = &mut self.lanes[to.index()] {
            open(&mut lanes.publish, self.limits, log).push(header, publish);
        }
    }

    /// Like [`Post::publish`], for a message that a group has bound to one session.
    pub(crate) fn assigned(
        &mut self,
        to: ShardId,
        assigned: Assigned,
        publish: &Publish<'_>,
        log: &mut Option<LogFeed>,
    ) {
        if let Some(lanes) = &mut self.lanes[to.index()] {
            open(&mut lanes.direct, self.limits, log).push(Direct::Message(assigned), publish);
        }
    }

    /// Lets a member be sent away, behind the messages for it.
    pub(crate) fn kick(&mut self, to: ShardId, member: SessionKey, epoch: u64, log: &mut Option<LogFeed>) {
        if let Some(lanes) = &mut self.lanes[to.index()] {
            open(&mut lanes.direct, self.limits, log).push_bare(Direct::Kick { to: member, epoch });
        }
    }

    /// Tells the owner of a group what became of a message, in one word with those before if it can be.
    pub(crate) fn told(&mut self, to: ShardId, told: Told) {
        let Some(lanes) = &mut self.lanes[to.index()] else { return };
        if let Some(Control::Word(word)) = lanes.express.open_batch().and_then(|batch| batch.last_mut())
            && word.append(told)
        {
            return;
        }
        append(&mut lanes.express, Control::Word(Word::Outcomes(vec![told])));
    }

    /// True when every lane can take more; else a connection that publishes is not read on.
    pub(crate) fn has_credit(&self) -> bool {
        self.lanes.iter().flatten().all(|lanes| {
            let control = lanes.control.pending().max(lanes.express.pending());
            lanes.publish.has_credit() && lanes.direct.has_credit() && control <= CONTROL_MARK
        })
    }

    /// True when so much waits here that no connection at all is read: each of those that are paused has added one message.
    pub(crate) fn is_overfull(&self) -> bool {
        self.lanes.iter().flatten().any(|lanes| lanes.publish.pending().max(lanes.direct.pending()) > PARCELS_MARK)
    }

    /// True when every direct lane can take a further parcel.
    pub(crate) fn has_all_direct_credit(&self) -> bool {
        self.lanes.iter().flatten().all(|lanes| lanes.direct.has_credit())
    }

    /// True when nothing waits here for room.
    pub(crate) fn is_empty(&self) -> bool {
        let pending = |lanes: &LanesOut| {
            lanes.express.pending() + lanes.control.pending() + lanes.publish.pending() + lanes.direct.pending()
        };
        self.lanes.iter().flatten().all(|lanes| pending(lanes) == 0)
    }

    /// Hands over what gathered; once per turn of the loop, behind what the shard has for the log.
    pub(crate) fn flush(&mut self) {
        for lanes in self.lanes.iter_mut().flatten() {
            lanes.express.flush();
            lanes.control.flush();
            lanes.publish.flush();
            lanes.direct.flush();
        }
    }
}

/// Parcels that may wait at the sender, beside those in the lane, before nothing is read at all.
const PARCELS_MARK: usize = 16;
/// Control messages in one batch.
pub(in crate::shard) const CONTROL_BATCH: usize = 256;
/// Batches of control messages that may wait at the sender before connections that cause more are not read on.
const CONTROL_MARK: usize = 2;

/// Adds to the batch that still takes messages, or begins a new one.
fn append(lane: &mut Lane<Vec<Control>>, message: Control) {
    match lane.open_batch() {
        Some(batch) if batch.len() < CONTROL_BATCH => batch.push(message),
        _ => lane.send(vec![message]),
    }
}

/// The parcel that still takes messages, or a new one.
fn open<'l, T>(lane: &'l mut Lane<Parcel<T>>, limits: ParcelLimits, log: &mut Option<LogFeed>) -> &'l mut Parcel<T> {
    let full = lane.open_batch().is_none_or(|p| p.items.len() >= limits.messages || p.bytes.len() >= limits.bytes);
    if full {
        if let Some(log) = log.as_mut().filter(|_| lane.pending() > 0) {
            log.flush();
        }
        // What is full goes at once: the other shard works on it while this one goes on.
        lane.flush();
        lane.send(Parcel::new());
    }
    lane.open_batch().expect("a parcel was just queued")
}
