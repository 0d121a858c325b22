//! The thread that notes how the clocks stand: no other has to look at the wall clock, or to wait for this file.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use lapwing_store::note_own_clock;

use super::{ClockMark, NodeClock, file, folder};
use crate::error::NodeError;
use crate::notices::NoticeKind;
use crate::shared::Shared;

/// How often it looks: so long may a jump be unknown to the disk.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The thread before it runs.
pub(crate) struct TimekeeperThread {
    clock: NodeClock,
    folder: PathBuf,
    shared: Arc<Shared>,
    /// Nothing is sent: its end is the thread's.
    stop: Receiver<()>,
    noted: Option<ClockMark>,
    /// The operator has heard that it cannot be written.
    has_told: bool,
}

/// The thread, and what ends it when it is dropped; nothing where no times are kept.
pub(crate) fn lay_timekeeper(shared: &Arc<Shared>) -> Option<(TimekeeperThread, Sender<()>)> {
    let folder = folder(&shared.config)?;
    let (sender, stop) = channel();
    let (clock, shared) = (shared.clock, shared.clone());
    Some((TimekeeperThread { clock, folder, shared, stop, noted: None, has_told: false }, sender))
}

impl TimekeeperThread {
    /// Works until it is stopped; the last mark is of that moment.
    pub(crate) fn run(mut self) {
        loop {
            let now = self.clock.mark();
            if now.is_due(self.noted) {
                self.note(now);
            }
            if self.stop.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
                return self.note(self.clock.mark());
            }
        }
    }

    /// What cannot be written is tried again at the next look. No promise waits for it, so the node goes on: only a jump
    /// of the wall clock must not come meanwhile, and the operator hears that.
    fn note(&mut self, mark: ClockMark) {
        match self.write(mark) {
            Ok(()) => (self.noted, self.has_told) = (Some(mark), false),
            Err(error) if !self.has_told => {
                self.has_told = true;
                self.shared.tell(NoticeKind::Clock, told(&error));
            }
            Err(_) => {}
        }
    }

    /// The folder says first that times in it are not the wall clock's, where that matters.
    fn write(&self, mark: ClockMark) -> Result<(), NodeError> {
        if mark.is_misread() {
            note_own_clock(&self.folder)?;
        }
        let written = file::write(&self.folder, mark);
        written.map_err(|source| NodeError::System { doing: "write the file \"clock\" of the data folder", source })
    }
}

fn told(error: &NodeError) -> String {
    format!(
        "{error}; it is tried again. If the wall clock is set before that, this counts at the next start as time that has passed"
    )
}
