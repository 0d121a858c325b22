//! A message for one session here.

use std::num::NonZeroU64;

use lapwing_session::{Delivered, Grant, Routed, SessionKey};

use super::clients::Clients;
use super::keeping::Kept;
use super::session_row::SessionRow;

impl Clients {
    /// Delivers a message to one session; false when there is no such session any more.
    pub(crate) fn deliver<'g>(
        &mut self,
        key: SessionKey,
        routed: &Routed<'_>,
        grants: impl Iterator<Item = &'g Grant>,
        now_ms: u64,
    ) -> bool {
        self.offer(key, routed, grants, now_ms).is_some()
    }

    /// The same; of a session that is there, whether it wants the message at all: not its own, with No Local.
    pub(crate) fn offer<'g>(
        &mut self,
        key: SessionKey,
        routed: &Routed<'_>,
        grants: impl Iterator<Item = &'g Grant>,
        now_ms: u64,
    ) -> Option<bool> {
        let kept = if routed.publish().qos.is_acknowledged() { self.keeper(key) } else { None };
        // What waits for a kept session stays in the log.
        if self.keeps_no_more && kept.is_none() && self.would_wait(key, routed) {
            self.not_kept += 1;
            self.row(key)?.session.note_refused();
            return Some(true);
        }
        let delivered = match kept {
            // It has it from before the node started.
            Some(kept) if self.repeats & kept.bit() != 0 => return Some(true),
            Some(kept) => self.deliver_kept(key, kept, routed, grants, now_ms),
            None => self.with(key, |session, io| session.deliver(routed, grants, None, now_ms, io)),
        };
        let delivered = delivered?;
        // A message that is sent drives out no other.
        if delivered != Delivered::Sent
            && let Some(reason) = self.row(key).and_then(|row| row.session.take_loss_news())
        {
            self.losing.push((key, reason));
        }
        let wants = delivered != Delivered::NotLocal;
        if let Delivered::Overflow(close) = delivered {
            self.overflowing.push((key, close));
        }
        Some(wants)
    }

    /// Delivers to a session that is kept: under the index that the message's entry in its data group will have.
    fn deliver_kept<'g>(
        &mut self,
        key: SessionKey,
        kept: Kept,
        routed: &Routed<'_>,
        grants: impl Iterator<Item = &'g Grant>,
        now_ms: u64,
    ) -> Option<Delivered> {
        let mut keeping = self.keeping.take();
        let entry = keeping.as_ref().and_then(|keeping| NonZeroU64::new(keeping.next_index(kept.slot)));
        let delivered = self.with(key, |session, io| {
            let delivered = session.deliver(routed, grants, entry, now_ms, io);
            if let (Some(keeping), Some(entry)) = (&mut keeping, entry)
                && let Some(options) = session.kept_options(entry)
            {
                keeping.keeper(kept, &options);
            }
            delivered
        });
        self.keeping = keeping;
        delivered
    }

    /// Whether a bound message for connection `epoch` of a session would be sent at once; also when that connection is over.
    pub(crate) fn takes_next(&mut self, key: SessionKey, epoch: u64) -> bool {
        let Some(row) = self.row(key).filter(|row| row.membership.epoch == epoch) else { return true };
        let Some(index) = row.connection else { return true };
        let output_bytes = self.connections.get(index).map_or(0, |connection| connection.output.len());
        self.row(key).is_some_and(|row| row.session.may_send_next(output_bytes))
    }

    /// How the log knows a session.
    pub(crate) fn kept(&mut self, key: SessionKey) -> Option<Kept> {
        self.row(key)?.kept_as.kept
    }

    /// How the log knows a session that is to have the message in hand there; `None`: it has it in memory, if at all.
    fn keeper(&mut self, key: SessionKey) -> Option<Kept> {
        let rules_version = self.keeping.as_ref().map_or(0, |keeping| keeping.rules_version);
        if !self.in_memory {
            return self.kept(key);
        }
        let row = self.row(key)?;
        let kept = row.kept_as.kept?;
        // What waits may be of the same topic and from before the rule. It lies in the log, behind all that is in memory, so
        // this message follows it there: else it would overtake.
        if row.kept_as.rules_version != rules_version && row.session.queued_messages() == 0 {
            row.kept_as.edit().rules_version = rules_version;
        }
        (row.kept_as.rules_version != rules_version).then_some(kept)
    }

    /// Whether a session has room for a QoS 1 or 2 message of so many bytes; one that is gone needs none.
    pub(crate) fn has_room_for(&mut self, key: SessionKey, bytes: u64) -> bool {
        let keeps_no_more = self.keeps_no_more;
        self.row(key).is_none_or(|row| {
            let would_wait = row.connection.is_none() || row.session.queued_messages() > 0;
            let has_memory = !keeps_no_more || row.kept_as.kept.is_some() || !would_wait;
            has_memory && row.session.has_room_for(bytes)
        })
    }

    /// Whether the message would lie in memory with a client that does not take it now.
    fn would_wait(&mut self, key: SessionKey, routed: &Routed<'_>) -> bool {
        let would_wait = |row: &mut SessionRow| row.connection.is_none() || row.session.queued_messages() > 0;
        routed.publish().qos.is_acknowledged() && self.row(key).is_some_and(would_wait)
    }
}
