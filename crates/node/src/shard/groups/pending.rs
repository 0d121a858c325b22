//! What of groups waits: for the disk, or for room in a session.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_session::{Bound, CommitToken, Message, SessionKey};

use crate::mail::Assigned;

/// Commit tokens in each list ascend.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Messages to be handed over to kept sessions here, which could not send them yet, in order.
    pub(super) hand_overs: VecDeque<(Assigned, Arc<Message>)>,
    /// Messages that sessions here were handed over, until that is on disk: then their groups hear of it.
    pub(super) handed_over: VecDeque<(CommitToken, SessionKey, Bound)>,
    /// Messages of kept groups here that became dead letters, until those are where they are kept: group and entry.
    pub(super) letters: VecDeque<(CommitToken, NonZeroU64, NonZeroU64)>,
}

/// Takes the first of `list` if its token is committed: all up to `through` are.
pub(super) fn take_due<T>(
    list: &mut VecDeque<T>,
    through: CommitToken,
    token: impl Fn(&T) -> CommitToken,
) -> Option<T> {
    if list.front().is_some_and(|first| token(first) <= through) { list.pop_front() } else { None }
}
