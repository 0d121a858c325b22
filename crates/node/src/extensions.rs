//! What a node is started with besides its configuration: code of the user's own, and who looks on.

use std::sync::Arc;

use crate::error::NodeError;
use crate::hooks::Hooks;
use crate::start_progress::StartProgress;
use crate::strategies::Strategist;

/// Called once all ports are bound and before anybody can connect: what only a privileged process may do is done then.
pub type OnBound = Box<dyn FnOnce() -> Result<(), NodeError> + Send>;

/// Hooks and strategists run on a thread of their own each.
#[derive(Default)]
pub struct Extensions {
    /// Judges and watches what clients do.
    pub hooks: Option<Box<dyn Hooks>>,
    /// Chooses members of groups; by the `use` of the groups' tables.
    pub strategists: Vec<(String, Box<dyn Strategist>)>,
    /// How far the start has come, for whoever keeps a copy.
    pub progress: Arc<StartProgress>,
    /// Gives up privileges, on the thread that starts the node; an error ends the start.
    pub on_bound: Option<OnBound>,
}
