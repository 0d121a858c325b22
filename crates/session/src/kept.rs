//! A session that outlives a crash: it tells what changes, and is put together again from that.
//!
//! The session itself keeps nothing: whoever called [`Session::keep`] takes the facts and makes them durable. Nothing of it
//! costs a volatile session more than an empty pointer.

use std::num::NonZeroU64;

use lapwing_codec::{QoS, SubscriptionIds};

use crate::flight::DeliveryOptions;
use crate::uses::Uses;
use crate::{Fact, Session};

/// Facts for which a session keeps places: more than one call usually tells, and little for a million sessions.
const PLACES_KEPT: usize = 4;

/// What a kept session has more than others.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The caller's name for the session.
    pub(crate) id: NonZeroU64,
    /// Told and not taken yet, in order.
    pub(crate) facts: Vec<Fact>,
    /// QoS 2 messages from the client.
    pub(crate) uses: Uses,
}

/// The delivery options of a message that a kept session has: what the log needs, so that the session can send it after a crash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeptOptions<'a> {
    /// 1 or 2.
    pub qos: QoS,
    /// RETAIN of its PUBLISH.
    pub retain: bool,
    /// Its subscription identifiers.
    pub ids: SubscriptionIds<'a>,
}

impl Kept {
    pub(crate) fn new(id: NonZeroU64, next_use: u64) -> Self {
        Kept { id, facts: Vec::new(), uses: Uses::new(next_use) }
    }
}

impl Session {
    /// From now on the session tells facts. `id`: whatever names it where they are kept; it comes back with
    /// [`Session::kept_id`].
    ///
    /// Messages that it has already are not in any log: they stay as volatile as they were.
    pub fn keep(&mut self, id: NonZeroU64) {
        if self.kept_id() != Some(id) {
            self.forget();
            self.told.kept = Some(Box::new(Kept::new(id, Uses::FIRST)));
        }
    }

    /// The session tells no more; what it has goes on without entries. It must have nothing in the log: see
    /// [`Session::is_paged`].
    pub fn forget(&mut self) {
        debug_assert!(!self.is_paged(), "what is in the log could not be named any more");
        if self.told.kept.take().is_some() {
            self.window.options_mut().chain(self.queue.options_mut()).for_each(|options| options.tie.entry = None);
        }
    }

    /// What [`Session::keep`] was given, while the session is kept.
    pub fn kept_id(&self) -> Option<NonZeroU64> {
        self.told.kept.as_ref().map(|kept| kept.id)
    }

    /// How the session keeps the message that was delivered to it last, if `entry` names that one.
    ///
    /// `None`: it does not keep it. It has QoS 0 for this client, was not for it, or was dropped; or the session is not kept.
    pub fn kept_options(&self, entry: NonZeroU64) -> Option<KeptOptions<'_>> {
        let [at_hand, paged] = self.queue.last_options();
        let last = [at_hand, paged, self.window.last_options()];
        let options: &DeliveryOptions = last.into_iter().flatten().find(|options| options.tie.entry == Some(entry))?;
        Some(KeptOptions { qos: options.qos, retain: options.retain, ids: options.ids.as_ref() })
    }

    /// Whether the log has messages of the client of which it is not known that they were taken: they could not be told from
    /// new ones if the session forgot.
    pub fn has_doubts(&self) -> bool {
        self.told.kept.as_ref().is_some_and(|kept| kept.uses.has_doubts())
    }

    /// Whether there are facts.
    #[inline]
    pub fn has_facts(&self) -> bool {
        self.told.kept.as_ref().is_some_and(|kept| !kept.facts.is_empty())
    }

    /// Appends the facts since the last call to `into`, in order.
    ///
    /// What a message does to a session may be told before the call that delivers it returns: its own entry goes first.
    pub fn take_facts(&mut self, into: &mut Vec<Fact>) {
        let Some(kept) = &mut self.told.kept else { return };
        into.append(&mut kept.facts);
        if kept.facts.capacity() > PLACES_KEPT {
            kept.facts = Vec::new();
        }
    }
}
