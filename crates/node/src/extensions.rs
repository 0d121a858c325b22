//! Code of the user's own that a node is started with.

use crate::hooks::Hooks;
use crate::strategies::Strategist;

/// What a node runs besides its own; each on a thread of its own.
#[derive(Default)]
pub struct Extensions {
    /// Judges and watches what clients do.
    pub hooks: Option<Box<dyn Hooks>>,
    /// Chooses members of groups; by the `use` of the groups' tables.
    pub strategists: Vec<(String, Box<dyn Strategist>)>,
}
