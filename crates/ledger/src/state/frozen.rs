//! A state as it was at one moment, for whoever writes it down while the entries go on.

use std::sync::Arc;

use super::{DataGroupState, KeptGroup, KeptSession, Publisher, Uses};

/// What of a [`DataGroupState`] goes into a snapshot.
///
/// Sessions, queues and publishers are shared with the state until one of them changes, which then copies that one: some
/// nanoseconds for each to freeze, not for each message that waits.
#[derive(Debug)]
pub struct FrozenState {
    pub(crate) applied: u64,
    pub(crate) strays: u64,
    /// In no order.
    pub(crate) sessions: Vec<Arc<KeptSession>>,
    /// In no order.
    pub(crate) groups: Vec<Arc<KeptGroup>>,
    /// By topic.
    pub(crate) retained: Vec<(Arc<str>, u64)>,
    /// In no order.
    pub(crate) origins: Vec<(Publisher, Arc<Uses>)>,
}

impl DataGroupState {
    /// The state as it is now, whatever is applied from here on.
    pub fn freeze(&self) -> FrozenState {
        FrozenState {
            applied: self.applied,
            strays: self.strays,
            sessions: self.sessions.values().cloned().collect(),
            groups: self.groups.values().cloned().collect(),
            retained: self.retained.iter().map(|(topic, entry)| (topic.clone(), *entry)).collect(),
            origins: self.origins.shared(),
        }
    }
}

impl FrozenState {
    /// The index of the last entry that was applied to it.
    pub const fn applied(&self) -> u64 {
        self.applied
    }
}
