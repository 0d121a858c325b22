//! A session in its shard's table, with what belongs to it there.

use std::num::NonZeroU32;

use lapwing_access::Identity;
use lapwing_session::{Fact, Session};

use crate::identity_shares::HeldPlace;
use crate::shard::durable::keeping::{Kept, LoggedAs};
use crate::shard::groups::Membership;
use crate::shard::rights::standing::Standing;
use crate::shard::subscribe::holdings::Counted;

/// One row of the table: a session, where its connection is, and what the shard keeps beside it.
pub(crate) struct SessionRow {
    pub(crate) session: Session,
    /// Who its client is.
    pub(crate) standing: Standing,
    /// Index of its connection and one more, while it has one. There are fewer.
    connection: Option<NonZeroU32>,
    /// What there is of it without a connection, from the first time that it has none on.
    pub(crate) away: Option<Box<Away>>,
    /// Stands in the list of sessions that wait for a commit.
    pub(in crate::shard) awaiting: bool,
    /// The earliest timer set for it; [`NEVER`](crate::timers::NEVER): there is none.
    pub(crate) timer_ms: u64,
    /// Stands in the list of sessions for which something should be read from the log.
    pub(in crate::shard) asks_page: bool,
    /// Its messages in the shard's account.
    pub(in crate::shard) counted: Counted,
    /// What it has to do with groups.
    pub(crate) membership: Membership,
    /// How the log knows it, if it is kept on disk.
    pub(crate) kept_as: LoggedAs,
}

/// A session without a connection, or that was one.
#[derive(Debug, Default)]
pub(crate) struct Away {
    /// Since when it has none, on the node's clock; means nothing while it has one.
    pub(crate) since_ms: u64,
    /// To whom it counts as one: what is there stays.
    pub(crate) place: Option<HeldPlace>,
}

// With the session in it. A broker may have a hundred thousand of them, of which most are idle.
const _: () = assert!(size_of::<SessionRow>() <= 360);

impl SessionRow {
    /// Of a session that has just begun or come back.
    pub(in crate::shard) fn new(
        session: Session,
        connection: Option<usize>,
        timer_ms: u64,
        standing: Standing,
        membership: Membership,
    ) -> Self {
        SessionRow {
            session,
            standing,
            connection: connection.map(|index| NonZeroU32::MIN.saturating_add(index as u32)),
            away: None,
            awaiting: false,
            timer_ms,
            asks_page: false,
            counted: Counted::default(),
            membership,
            kept_as: LoggedAs::default(),
        }
    }

    /// Index of its connection, while it has one.
    pub(crate) fn connection(&self) -> Option<usize> {
        self.connection.map(|after| after.get() as usize - 1)
    }

    /// It has none from now on.
    pub(in crate::shard) fn parted(&mut self, now_ms: u64) {
        self.connection = None;
        self.away.get_or_insert_default().since_ms = now_ms;
    }

    /// Whether it counts as one without a connection, or will again.
    pub(in crate::shard) fn has_place_away(&self) -> bool {
        self.away.as_ref().is_some_and(|away| away.place.is_some())
    }

    /// Whether `newcomer`, who has not begun the session, is kept from its client id: somebody in particular has begun it, and is
    /// here or has something in it. A name gets the id of one that is neither: nobody loses anything, and nobody squats it so.
    pub(in crate::shard) fn is_kept_from(&self, newcomer: &Identity) -> bool {
        let is_held = newcomer.is_anonymous() || self.connection.is_some() || self.session.has_state();
        !self.standing.identity.is_anonymous() && is_held
    }

    /// Gathers what the session has told for the log; true when what it has just written must not leave before that is
    /// durable.
    pub(in crate::shard) fn tell(&mut self, told: &mut Vec<Fact>, facts: &mut Vec<(Kept, Fact)>) -> bool {
        self.session.take_facts(told);
        let fences_output = told.iter().any(Fact::fences_output);
        match self.kept_as.kept {
            Some(kept) => facts.extend(told.drain(..).map(|fact| (kept, fact))),
            None => told.clear(),
        }
        fences_output
    }
}
