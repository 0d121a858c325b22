//! Hooks: code of the user's that may change or refuse what clients do, or watch it.
//!
//! Rules of this room:
//! - A hook never runs on a data thread. A shard asks, puts the connection on hold with its bytes unread, and goes on
//!   with the others; the answer comes back over a lane, the same bytes are read again and now have their verdicts. So
//!   the order of a client's packets is kept by construction, and a client without hooked packets is never held.
//! - Everything that waits is counted and bounded ([`Backlog`]): calls and their bytes, decisions and observations apart.
//! - A hook that fails, is late, or finds the queue full meets the declared policy ([`crate::OnFailure`]), counted.
//! - One thread calls the hooks, in batches; it may block for ever without holding up a shard or the end of the node.
//! - The node knows nothing of Python: it knows the trait [`Hooks`].

mod answer;
mod backlog;
mod call;
mod control;
mod feed;
mod interests;
mod lanes;
mod lines;
mod message;
mod thread;
mod verdict;

pub use answer::{HookAnswer, HookFailure};
pub(crate) use backlog::Backlog;
pub use call::{AuthCall, ConnectCall, HookCall, HookClient, SubscribeCall};
pub(crate) use control::HookControl;
pub(crate) use feed::{HookFeed, Whom};
pub use interests::{HookName, Interests};
pub(crate) use lanes::lay_hooks;
pub(crate) use message::Changed;
pub use message::HookMessage;
pub(crate) use thread::HookThread;
pub(crate) use verdict::{Missing, Verdict};

/// Code that judges and watches what clients do. All its methods are called by one thread, one after the other.
pub trait Hooks: Send {
    /// What it wants to be called for; asked once, before the node starts.
    fn interests(&self) -> Interests;

    /// Takes some calls, in their order; answers each, in the same order. The answer to an observation is
    /// [`HookAnswer::Pass`].
    ///
    /// # Errors
    /// None of the calls could be answered: all of them meet the declared policy. One call alone that fails is answered
    /// with [`HookAnswer::Failed`].
    fn call(&mut self, calls: &[HookCall]) -> Result<Vec<HookAnswer>, HookFailure>;
}
