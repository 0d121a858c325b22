//! Where a node stands in its life: configured, then running, then stopped.

use std::sync::{Arc, MutexGuard, PoisonError};

use lapwing_node::{Config, Extensions, Handle, Member};
use pyo3::prelude::*;

use super::Node;
use super::member::{MemberPlan, member_error, standby_error};
use crate::core_error::core_error;

/// What it is at the moment.
pub(super) enum State {
    Configured(Box<Config>, Extensions, Option<Box<MemberPlan>>),
    Running(Arc<Handle>),
    /// It serves for its cluster, or stands by.
    Member(Arc<Member>),
    Stopped,
}

/// Who can be asked.
enum Asked {
    Handle(Arc<Handle>),
    Standby(Arc<Member>),
    Nobody,
}

impl Node {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held leaves a state that is still one of these.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the node, if it serves, without the interpreter's lock; the state is not locked meanwhile.
    pub(super) fn running<T: Send>(&self, py: Python<'_>, ask: impl FnOnce(&Handle) -> T + Send) -> PyResult<T> {
        let answer = py.detach(|| match self.asked() {
            Asked::Handle(handle) => Ok(ask(&handle)),
            Asked::Standby(member) => Err(Some(member)),
            Asked::Nobody => Err(None),
        });
        answer.map_err(|standby| match standby {
            Some(member) => standby_error(py, &member),
            None => core_error(py, "state", "the node does not run", "Call start() first.", &[]),
        })
    }

    /// The same for what a node that stands by has nothing of.
    pub(super) fn running_or<T: Send>(
        &self,
        py: Python<'_>,
        standby: T,
        ask: impl FnOnce(&Handle) -> T + Send,
    ) -> PyResult<T> {
        if self.member().is_some_and(|member| member.serving().is_none()) {
            return Ok(standby);
        }
        self.running(py, ask)
    }

    /// Asks the member that it is; `None`: it is a node on its own.
    pub(super) fn as_member<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Member) -> Result<T, lapwing_node::MemberError> + Send,
    ) -> PyResult<Option<T>> {
        let answer = py.detach(|| self.member().map(|member| ask(&member)));
        answer.transpose().map_err(|error| member_error(py, &error))
    }

    pub(super) fn member(&self) -> Option<Arc<Member>> {
        match &*self.lock() {
            State::Member(member) => Some(member.clone()),
            State::Configured(..) | State::Running(_) | State::Stopped => None,
        }
    }

    fn asked(&self) -> Asked {
        match &*self.lock() {
            State::Running(handle) => Asked::Handle(handle.clone()),
            State::Member(member) => match member.serving() {
                Some(handle) => Asked::Handle(handle),
                None => Asked::Standby(member.clone()),
            },
            State::Configured(..) | State::Stopped => Asked::Nobody,
        }
    }
}
