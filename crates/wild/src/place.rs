//! Where the node runs that clients connect to.

use crate::folder::Folder;
use crate::process::Process;
use crate::run::Arrangement;

/// A node in its folder: started, stopped, and started again.
pub(crate) trait Place {
    /// Starts the node, which does not run; returns when it can be connected to.
    fn start(&mut self, shards: u32) -> Result<(), String>;

    /// Whether a stop that is no drain is a kill.
    fn is_killed(&self) -> bool;

    /// Stops the node; `drained`: in order, its clients are sent away first.
    fn stop(&mut self, drained: bool) -> Result<(), String>;

    /// From now on a sync takes so many milliseconds, where that can be had.
    fn slow(&self, sync_ms: u64);

    /// Where clients connect.
    fn url(&self) -> String;

    /// # Errors
    /// The node has stopped by itself.
    fn check(&mut self) -> Result<(), String>;
}

/// A new place as it is arranged, with its node.
pub(crate) fn start(arrangement: &Arrangement) -> Result<Box<dyn Place>, String> {
    let mut place: Box<dyn Place> = match arrangement.is_process {
        true => Box::new(Process::new(arrangement)?),
        false => Box::new(Folder::new(arrangement)?),
    };
    place.start(arrangement.shards)?;
    Ok(place)
}
