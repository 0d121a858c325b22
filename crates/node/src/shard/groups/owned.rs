//! A group on the shard that owns it, and what the shard knows of its members.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::QoS;
use lapwing_groups::{DropReason, Group};
use lapwing_session::{Grant, Message, SessionKey};
use rustc_hash::FxBuildHasher;

use crate::config::GroupConfig;
use crate::holder::Holder;
use crate::shard::durable::keeping::{Kept, Origin};
use crate::shard::publish::losses::LossWatch;
use crate::strategies::ClientNames;
use crate::words::Profile;

/// A member as its group's owner knows it.
#[derive(Debug)]
pub(crate) struct Person {
    /// How it subscribes.
    pub(crate) grant: Grant,
    pub(crate) client_id: Arc<str>,
    pub(crate) profile: Profile,
    /// Its session is kept on disk.
    pub(crate) is_kept: bool,
}

/// One group and what belongs to it.
pub(crate) struct OwnedGroup {
    /// Its number: never used again for another group.
    pub(crate) tag: NonZeroU64,
    /// Hash of group and filter.
    pub(crate) share: u64,
    pub(crate) name: Arc<str>,
    pub(crate) filter: Arc<str>,
    pub(crate) group: Group<SessionKey, Arc<Message>>,
    pub(crate) people: HashMap<SessionKey, Person, FxBuildHasher>,
    /// Its table.
    pub(crate) config: Arc<GroupConfig>,
    /// The earliest timer set for it.
    pub(crate) timer_ms: Option<u64>,
    /// How the log knows it, if it is kept on disk.
    pub(crate) kept: Option<Kept>,
    /// What the log has of its declaration; None: whatever there was before the node started.
    pub(super) declared: Option<Option<Arc<GroupConfig>>>,
    /// Of its QoS 2 messages in the log those of which no end is committed there.
    pub(super) unsettled: BTreeSet<NonZeroU64>,
    /// Members whose sessions are kept.
    pub(super) keepers: usize,
    /// Kept sessions that were members before the node started and have not said so yet.
    pub(super) expected: u32,
    /// Where code of the user's own that chooses is told who the members are.
    pub(super) names: Option<Arc<ClientNames>>,
    /// To whose share it counts, if to anybody's.
    pub(super) begun_by: Option<Holder>,
    /// Whether it is known to be losing messages.
    pub(crate) losses: LossWatch,
    /// Messages that it had dropped when they were counted for the node last.
    pub(super) dropped: u64,
    /// Stands in the list of groups that may have something to do.
    pub(super) is_dirty: bool,
}

impl OwnedGroup {
    /// Messages that it has dropped, for whatever reason, since this was asked last.
    pub(super) fn newly_dropped(&mut self) -> u64 {
        let dropped: u64 = DropReason::ALL.into_iter().map(|reason| self.group.counters().dropped(reason)).sum();
        dropped - std::mem::replace(&mut self.dropped, dropped)
    }

    /// Notes what a member says about itself now.
    pub(crate) fn knows(&mut self, member: SessionKey, profile: Profile) {
        if let Some(person) = self.people.get_mut(&member) {
            person.profile = profile;
        }
    }

    /// Whether it outlives its members' connections: it was declared, or a member's session is kept.
    pub(super) fn is_to_be_kept(&self) -> bool {
        self.group.settings().is_durable || self.keepers > 0
    }

    /// What the log does not know yet of its declaration.
    pub(super) fn new_declaration(&self) -> Option<Option<Arc<GroupConfig>>> {
        if self.expected > 0 {
            // It only looks declared until all are back.
            return None;
        }
        let declared = self.group.settings().is_durable.then(|| self.config.clone());
        (self.declared.as_ref() != Some(&declared)).then_some(declared)
    }

    /// Of a message that is bound to a session: what the session's own entry names as its origin, where it has one.
    pub(super) fn origin(&self, entry: Option<NonZeroU64>, qos: QoS) -> Option<Origin> {
        let (kept, entry) = self.kept.zip(entry.filter(|_| qos == QoS::ExactlyOnce))?;
        let settled = self.unsettled.first().copied().unwrap_or(entry).min(entry);
        Some(Origin::of_group(kept, entry, settled.get()))
    }

    /// Takes somebody in; true when that was no member.
    pub(super) fn learn(&mut self, member: SessionKey, person: Person) -> bool {
        if let Some(names) = &self.names {
            names.learn(person.profile.identity, &person.client_id);
        }
        self.keepers += usize::from(person.is_kept);
        let before = self.people.insert(member, person);
        self.keepers -= usize::from(before.as_ref().is_some_and(|before| before.is_kept));
        before.is_none()
    }

    /// A member has gone.
    pub(super) fn forget(&mut self, member: SessionKey) {
        let Some(person) = self.people.remove(&member) else { return };
        self.keepers -= usize::from(person.is_kept);
        if let Some(names) = &self.names {
            names.forget(person.profile.identity);
        }
    }
}
