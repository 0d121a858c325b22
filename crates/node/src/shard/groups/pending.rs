//! What of groups waits: for the disk, or for room in a session.

use std::collections::{HashSet, VecDeque};
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_session::{Bound, CommitToken, Message, SessionKey};
use rustc_hash::FxBuildHasher;

use crate::mail::Assigned;

/// Commit tokens in each list ascend.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Messages to be handed over to kept sessions here, which could not send them yet.
    pub(super) hand_overs: HandOvers,
    /// Messages that sessions here were handed over, until that is on disk: then their groups hear of it.
    pub(super) handed_over: VecDeque<(CommitToken, SessionKey, Bound)>,
    /// Messages of kept groups here that became dead letters, until those are where they are kept: group and entry.
    pub(super) letters: VecDeque<(CommitToken, NonZeroU64, NonZeroU64)>,
}

/// Messages that wait for room in their sessions, in order.
#[derive(Debug, Default)]
pub(crate) struct HandOvers {
    line: VecDeque<(Assigned, Arc<Message>)>,
    /// Whom they are for.
    sessions: HashSet<SessionKey, FxBuildHasher>,
}

impl HandOvers {
    /// Puts one behind all others.
    pub(super) fn push(&mut self, assigned: Assigned, message: Arc<Message>) {
        self.sessions.insert(assigned.to);
        self.line.push_back((assigned, message));
    }

    /// Whether any waits for this session: then the next one for it waits behind that.
    pub(super) fn has_any_for(&self, session: SessionKey) -> bool {
        self.sessions.contains(&session)
    }

    /// All of them, to be tried in order; none waits meanwhile.
    pub(super) fn take(&mut self) -> VecDeque<(Assigned, Arc<Message>)> {
        self.sessions.clear();
        std::mem::take(&mut self.line)
    }

    /// The first ones.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(Assigned, Arc<Message>)> {
        self.line.iter()
    }
}

/// Takes the first of `list` if its token is committed: all up to `through` are.
pub(super) fn take_due<T>(
    list: &mut VecDeque<T>,
    through: CommitToken,
    token: impl Fn(&T) -> CommitToken,
) -> Option<T> {
    if list.front().is_some_and(|first| token(first) <= through) { list.pop_front() } else { None }
}
