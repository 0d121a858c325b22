//! What of groups waits: for the disk, or for room in a session.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_session::{Bound, Message, SessionKey};

use crate::mail::Assigned;

/// Promises in each list ascend.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Messages that kept sessions here are to have as their own and could not send yet, in order.
    pub(super) adoptions: VecDeque<(Assigned, Arc<Message>)>,
    /// Those that they have, until that is on disk.
    pub(super) adopted: VecDeque<(u64, SessionKey, Bound)>,
    /// Messages of kept groups here that became dead letters, until those are where they are kept: group and entry.
    pub(super) letters: VecDeque<(u64, NonZeroU64, NonZeroU64)>,
}

/// Takes the first that waits for a promise up to `through`; its place in `list` says for which.
pub(super) fn take_due<T>(list: &mut VecDeque<T>, through: u64, promise: impl Fn(&T) -> u64) -> Option<T> {
    if list.front().is_some_and(|first| promise(first) <= through) { list.pop_front() } else { None }
}
