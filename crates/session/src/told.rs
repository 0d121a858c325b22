//! Who has to learn what becomes of a message: the group that has bound it, whoever keeps the session, the counters.

use std::num::NonZeroU64;

use lapwing_codec::PacketId;

use crate::doubts::Doubts;
use crate::kept::Kept;
use crate::losses::{LossBook, is_loss};
use crate::{Accepted, Bound, Counters, DropReason, Fact, Fate, Outcome};

/// What ties a message in a session to the outside. Both: a bound message that its group has handed over to the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tie {
    /// Of a message that a group has bound to this client.
    pub(crate) bound: Option<Bound>,
    /// Of a message that is in the log of a kept session.
    pub(crate) entry: Option<NonZeroU64>,
}

/// What a session has told and nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// While the session is kept.
    pub(crate) kept: Option<Box<Kept>>,
    /// From the first of it on: most clients are in no group, and lose nothing.
    news: Option<Box<News>>,
}

#[derive(Debug, Default)]
struct News {
    /// What became of bound messages, in the order in which it happened.
    outcomes: Vec<Outcome>,
    /// What the session never gets.
    losses: LossBook,
}

impl Told {
    /// What became of a bound message.
    pub(crate) fn outcome(&mut self, outcome: Outcome) {
        self.news.get_or_insert_default().outcomes.push(outcome);
    }

    /// Takes out what became of those; the list keeps its memory.
    pub(crate) fn take_outcomes(&mut self) -> impl Iterator<Item = Outcome> {
        self.news.as_mut().map(|news| news.outcomes.drain(..)).into_iter().flatten()
    }

    pub(crate) fn has_outcomes(&self) -> bool {
        self.news.as_ref().is_some_and(|news| !news.outcomes.is_empty())
    }

    /// A message is gone that the session was to have.
    #[inline]
    pub(crate) fn note_gone(&mut self, reason: DropReason, is_acknowledged: bool) {
        if is_loss(reason) {
            self.news.get_or_insert_default().losses.note(reason, is_acknowledged);
        }
    }

    /// What it was to have and never gets, if that is anything.
    pub(crate) fn losses(&self) -> Option<&LossBook> {
        self.news.as_ref().map(|news| &news.losses)
    }

    /// The same, for who is told of it.
    #[inline]
    pub(crate) fn losses_mut(&mut self) -> Option<&mut LossBook> {
        self.news.as_mut().map(|news| &mut news.losses)
    }

    fn fact(&mut self, fact: Fact) {
        if let Some(kept) = &mut self.kept {
            kept.facts.push(fact);
        }
    }

    /// The message has left the session.
    #[inline]
    pub(crate) fn finished(&mut self, tie: Tie) {
        if let Some(entry) = tie.entry {
            self.fact(Fact::Finished { entry });
        }
    }

    /// A QoS 2 message goes to the client under this packet id.
    pub(crate) fn publish_sent(&mut self, packet_id: PacketId, tie: Tie) {
        if let Some(entry) = tie.entry {
            self.fact(Fact::PublishSent { packet_id, entry });
        }
    }

    /// PUBREC has come: the client has a QoS 2 message.
    pub(crate) fn pubrec_received(&mut self, packet_id: PacketId, tie: Tie) {
        if tie.entry.is_some() {
            self.fact(Fact::PubRecReceived { packet_id });
        }
    }

    /// The client's QoS 2 message was `accepted` or not; `dup`: it says to have sent it before. `window`: see [`Uses::pass_by`].
    pub(crate) fn answered(
        &mut self,
        packet_id: PacketId,
        use_number: u64,
        dup: bool,
        accepted: Accepted,
        window: usize,
    ) {
        let Some(kept) = &mut self.kept else { return };
        let is_refused = matches!(accepted, Accepted::Refused(reason) if reason.is_error());
        if is_refused && dup {
            // Where the refusal does not arrive, the same message comes again; nobody has it.
            return;
        }
        let (is_resent, was_doubted) = (kept.uses.is_resent(use_number), kept.uses.resolve(packet_id));
        if was_doubted && !is_resent {
            // The id has another meaning from now on, whatever is left of the message after the next crash.
            kept.facts.push(Fact::Released { packet_id });
        }
        if !(is_refused || dup) {
            let forgotten = kept.uses.pass_by(window);
            let released = |doubts: &Doubts| doubts.ids().map(|packet_id| Fact::Released { packet_id }).collect();
            kept.facts.append(&mut forgotten.as_deref().map_or_else(Vec::new, released));
        }
        match accepted {
            Accepted::Later(_) => kept.uses.take(packet_id, use_number),
            // Everybody who keeps it has had it since before the crash.
            Accepted::Now | Accepted::NobodySubscribed if is_resent => {
                kept.uses.take(packet_id, use_number);
                self.received(packet_id);
            }
            _ => {}
        }
    }

    /// The client's QoS 2 message is durable, wherever it belongs: what is told now is not durable before.
    pub(crate) fn received(&mut self, packet_id: PacketId) {
        if let Some(kept) = &mut self.kept
            && let Some(use_number) = kept.uses.durable(packet_id)
        {
            kept.facts.push(Fact::Received { packet_id, use_number });
        }
    }

    /// The client has released its message; returns whether that was in doubt, so that it must have been taken.
    pub(crate) fn released(&mut self, packet_id: PacketId) -> bool {
        let Some(kept) = &mut self.kept else { return false };
        let was_doubted = kept.uses.resolve(packet_id);
        if kept.uses.release(packet_id) || was_doubted {
            kept.facts.push(Fact::Released { packet_id });
        }
        was_doubted
    }

    /// The session has a message no longer, and the client does not have it: it is counted, unless it is one of a group,
    /// which learns its `fate` and counts it.
    pub(crate) fn lost(&mut self, tie: Tie, reason: DropReason, fate: Fate, counters: &mut Counters) {
        self.finished(tie);
        match tie.bound {
            Some(bound) => self.outcome(Outcome { bound, fate }),
            None => {
                self.note_gone(reason, true);
                counters.count_drop(reason);
            }
        }
    }
}
