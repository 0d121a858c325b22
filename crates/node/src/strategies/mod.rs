//! Strategies of the user's own: code that chooses members of groups, on a thread of its own.
//!
//! Rules of this room:
//! - A strategy never runs on a data thread. The group's chooser is a `lapwing_dispatch::Deferred`; its desk is one end of
//!   two bounded lanes, and the message waits in the group's queue. What is late, fails or finds no room meets the declared
//!   fallback, and all of it is counted there.
//! - One thread for each `use`; groups that name the same one share its object. It takes what waits, of all its groups, in
//!   one batch. It may block for ever without holding up a shard or the end of the node.
//! - The node knows nothing of Python: it knows the trait [`Strategist`].
//!
//! # How a shard uses it
//!
//! ```text
//! a group is made whose table has `use`   let (desk, names) = strategies.get(use)?.desk(group, timeout, its own bell)
//!                                         group.set_chooser(Box::new(Deferred::new(desk, fallback, timeout_us)), now)
//! a member joins, leaves                  names.learn(identity, client_id), names.forget(identity)
//! once per turn of the loop               if group.has_news(): group.tick(now)
//! ```

mod desk;
mod names;
mod registry;
mod thread;
mod trial;

use std::sync::Arc;

pub use desk::StrategyDesk;
pub use lapwing_dispatch::{DeferredCounters, MemberState, Question, Strategy, StrategyError, Verdict};
pub use names::ClientNames;
pub use registry::{Strategies, StrategyHandle};
pub use trial::{Trial, TrialMember, TrialReport};

/// Code that chooses members for messages. All its methods are called by one thread, one after the other.
pub trait Strategist: Send {
    /// Answers some questions, of one or more groups; one answer each, in the same order.
    ///
    /// # Errors
    /// None of them could be answered: the fallback decides about all. One alone that fails is [`Verdict::Failed`].
    fn choose(&mut self, asks: &[StrategyAsk]) -> Result<Vec<Verdict>, StrategyFailure>;
}

/// One question, and what a strategy is told besides.
#[derive(Clone, Debug)]
pub struct StrategyAsk {
    /// The group, as an operator knows it.
    pub group: Arc<str>,
    /// The client ids of its members.
    pub names: Arc<ClientNames>,
    /// The question.
    pub question: Question,
}

/// None of a batch could be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct StrategyFailure {
    /// What went wrong, for the operator.
    pub what: String,
}
