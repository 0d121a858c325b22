//! What became of messages of groups in this turn, until their owners are told.

use lapwing_session::{Outcome, Session, SessionKey};

use crate::words::Told;

/// In the order in which it happened.
#[derive(Debug, Default)]
pub(crate) struct Outcomes(Vec<Told>);

impl Outcomes {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, member: SessionKey, epoch: u64, outcome: Outcome) {
        self.0.push(Told { member, epoch, outcome });
    }

    /// Takes over what a session has to tell.
    pub(crate) fn take_from(&mut self, session: &mut Session, epoch: u64) {
        let member = session.key();
        self.0.extend(session.take_outcomes().map(|outcome| Told { member, epoch, outcome }));
    }

    /// All of them; [`Outcomes::recycle`] gives the memory back.
    pub(crate) fn take(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.0)
    }

    pub(crate) fn recycle(&mut self, mut list: Vec<Told>) {
        list.clear();
        list.append(&mut self.0);
        self.0 = list;
    }
}
