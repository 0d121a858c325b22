//! Messages that a consumer group has bound to this client: each is reported back, once, with what became of it.
//!
//! A bound message waits and flies like any other; what differs is its end. When the connection is over QoS 1 leaves the
//! session, because the group gives it to another member. QoS 2 stays, once it has been sent: its delivery goes on with the
//! same client [MQTT-4.4.0-1], and a kept session has it as its own from then on ([`Session::hand_over`]).

use std::num::NonZeroU64;

use lapwing_codec::QoS;

use crate::flight::{DeliveryOptions, Ids};
use crate::queue::Queued;
use crate::told::Tie;
use crate::{Delivered, Grant, Io, Routed, Session};

/// Which message of which group it is. The group's owner chose both numbers; here they only come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The group.
    pub group: NonZeroU64,
    /// The message's binding to this client.
    pub assignment: u64,
}

/// What became of a bound message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// PUBACK, or PUBCOMP. Times are those of [`Io::now_us`].
    Acknowledged {
        /// When it had been written to the socket; if nobody said so, when it was encoded.
        written_us: u64,
        /// When its PUBACK or PUBREC was read.
        read_us: u64,
    },
    /// PUBACK or PUBREC with 0x80 or above.
    Refused,
    /// The client cannot have it: it is larger than its Maximum Packet Size, say.
    Undeliverable,
    /// It was not sent and will not be: somebody else may have it.
    HandedBack,
    /// The session has it as its own, on disk: its end follows, and until then it is nobody else's.
    HandedOver,
}

/// A bound message has ended here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Which one.
    pub bound: Bound,
    /// How.
    pub fate: Fate,
}

/// A bound message as the end of a connection or session finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Which one.
    pub bound: Bound,
    /// It may have reached the client.
    pub was_sent: bool,
}

/// Times of a flight, on the clock of [`Io::now_us`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    /// When it was encoded, or written to the socket.
    pub(crate) written_us: u64,
    /// The second of the two.
    pub(crate) is_written: bool,
    /// When its PUBREC was read.
    pub(crate) received_us: u64,
}

impl Session {
    /// Delivers a message that a group has bound to this client, under its subscription `grant` to the group. `qos`: as
    /// the group says; with QoS 0 nothing is reported. The client must be connected.
    ///
    /// It is never dropped for want of room: the group bounds what a member has.
    pub fn deliver_bound(
        &mut self,
        routed: &Routed<'_>,
        grant: &Grant,
        qos: QoS,
        bound: Option<Bound>,
        now_ms: u64,
        io: &mut Io<'_>,
    ) -> Delivered {
        let options = bound_options(routed, grant, qos, Tie { bound, entry: None });
        let tie = options.tie;
        if qos == QoS::AtMostOnce || bound.is_none() {
            return self.deliver_unacknowledged(routed, &options, now_ms, io);
        }
        if !self.may_send_next(io.out.len()) {
            self.queue.add(Queued { message: routed.keep().clone(), options, since_ms: now_ms });
            return Delivered::Queued;
        }
        match self.send(&routed.publish, options, routed.expires_at_ms, routed.keep(), now_ms, io) {
            Ok(()) => Delivered::Sent,
            Err(reason) => {
                self.told.lost(tie, reason, Fate::Undeliverable, io.counters);
                Delivered::Dropped(reason)
            }
        }
    }

    /// Whether a QoS 1 or 2 message would be sent at once, with so many bytes of output before it.
    pub fn may_send_next(&self, output_bytes: usize) -> bool {
        let is_next = self.queue.is_empty() && !self.window.has_unsent() && self.may_keep_more();
        is_next && self.has_room_behind(output_bytes)
    }

    /// Delivers a bound QoS 2 message to a kept session, which has it as its own from then on: `entry` is where it is logged
    /// for that; look at [`Session::kept_options`] then. So its delivery goes on with this client after a crash too.
    ///
    /// None: it cannot be sent now ([`Session::may_send_next`]), and nothing has happened. A message that waits is its group's.
    pub fn hand_over(
        &mut self,
        routed: &Routed<'_>,
        grant: &Grant,
        bound: Bound,
        entry: NonZeroU64,
        now_ms: u64,
        io: &mut Io<'_>,
    ) -> Option<Delivered> {
        if !self.may_send_next(io.out.len()) {
            return None;
        }
        let tie = Tie { bound: Some(bound), entry: Some(entry).filter(|_| self.told.kept.is_some()) };
        let options = bound_options(routed, grant, QoS::ExactlyOnce, tie);
        Some(match self.send(&routed.publish, options, routed.expires_at_ms, routed.keep(), now_ms, io) {
            Ok(()) => Delivered::Sent,
            Err(reason) => {
                // It is logged nowhere yet.
                self.told.lost(Tie { entry: None, ..tie }, reason, Fate::Undeliverable, io.counters);
                Delivered::Dropped(reason)
            }
        })
    }

    /// Everything that was encoded until now has been written to the socket, at [`Io::now_us`].
    pub fn written(&mut self, now_us: u64) {
        self.window.written(now_us);
    }

    /// Whether [`Session::written`] has something to note.
    pub fn has_unwritten(&self) -> bool {
        self.window.has_unwritten()
    }

    /// What has become of bound messages since the last call.
    pub fn take_outcomes(&mut self) -> impl Iterator<Item = Outcome> {
        self.told.take_outcomes()
    }

    /// Whether there is any.
    pub fn has_outcomes(&self) -> bool {
        self.told.has_outcomes()
    }

    /// The connection is over, and with `ends` the session too: takes the bound messages out that go back to their groups,
    /// and tells which of all bound messages had been sent. QoS 2 that had been sent stays, unless the session ends.
    pub fn unbind(&mut self, ends: bool) -> Vec<Unfinished> {
        let mut unfinished = self.window.unbind(ends);
        unfinished.extend(self.queue.unbind().map(|bound| Unfinished { bound, was_sent: false }));
        unfinished
    }

    /// QoS 1 and 2 messages that may be under way to the client at a time; None without connection.
    pub fn window_max(&self) -> Option<u16> {
        self.link.as_ref().map(|link| link.window_max)
    }
}

fn bound_options(routed: &Routed<'_>, grant: &Grant, qos: QoS, tie: Tie) -> DeliveryOptions {
    let ids = grant.subscription_id.map_or(Ids::None, Ids::One);
    let retain = grant.options.retain_as_published && routed.publish.retain;
    DeliveryOptions { qos, retain, dup: false, ids, tie }
}
