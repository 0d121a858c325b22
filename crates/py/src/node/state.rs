//! Where a node stands in its life: configured, then running, then stopped.

use std::sync::{Arc, MutexGuard, PoisonError};

use lapwing_node::{Config, Extensions};
use pyo3::prelude::*;

use super::Node;
use crate::core_error::core_error;

/// What it is at the moment.
pub(super) enum State {
    Configured(Box<Config>, Extensions),
    Running(Arc<lapwing_node::Handle>),
    Stopped,
}

impl Node {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held leaves a state that is still one of the three.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the node, if it runs, without the interpreter's lock; the state is not locked meanwhile.
    pub(super) fn running<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&lapwing_node::Handle) -> T + Send,
    ) -> PyResult<T> {
        let answer = py.detach(|| {
            let handle = match &*self.lock() {
                State::Running(handle) => Some(handle.clone()),
                State::Configured(..) | State::Stopped => None,
            };
            handle.map(|handle| ask(&handle))
        });
        answer.ok_or_else(|| core_error(py, "state", "the node does not run", "Call start() first.", &[]))
    }
}
