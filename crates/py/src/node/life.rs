//! How a node begins, and how it ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lapwing_node::{Config, Extensions, MemberError, NodeError, OnBound};
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;

use super::Node;
use super::member::{MemberPlan, member_error};
use super::state::State;
use crate::core_error::core_error;
use crate::hooks::PyHooks;
use crate::strategy::PyStrategist;

/// Code of the user's own: a `Dispatcher`, and a `Chooser` for each `use`.
pub(super) fn extensions_of(
    hooks: Option<&Bound<'_, PyAny>>,
    strategies: BTreeMap<String, Bound<'_, PyAny>>,
) -> PyResult<Extensions> {
    let mut extensions = Extensions::default();
    if let Some(hooks) = hooks {
        extensions.hooks = Some(Box::new(PyHooks::new(hooks)?));
    }
    for (name, chooser) in strategies {
        extensions.strategists.push((name, Box::new(PyStrategist::new(&chooser)?)));
    }
    Ok(extensions)
}

impl Node {
    /// Starts it, once.
    pub(super) fn begin(&self, py: Python<'_>, on_bound: Option<Py<PyAny>>) -> PyResult<()> {
        let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
        let on_bound = on_bound.map(|callable| on_bound_of(callable, Arc::clone(&raised)));
        let started = py.detach(|| {
            let mut state = self.lock();
            let State::Configured(config, extensions, plan) = &mut *state else { return None };
            let started = match plan.take() {
                None => {
                    let extensions = Extensions { on_bound, ..std::mem::take(extensions) };
                    let started = lapwing_node::Handle::start_with((**config).clone(), extensions);
                    started.map(|handle| State::Running(Arc::new(handle))).map_err(MemberError::Node)
                }
                Some(plan) => start_member(*plan, config, on_bound),
            };
            Some(started.map(|running| *state = running))
        });
        if let Some(raised) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(raised);
        }
        match started {
            None => Err(core_error(py, "state", "the node was started before", "Make a new Node.", &[])),
            Some(result) => result.map_err(|error| member_error(py, &error)),
        }
    }

    /// Ends all threads, if it runs.
    pub(super) fn end(&self, py: Python<'_>) -> PyResult<()> {
        let stopped = py.detach(|| {
            let state = std::mem::replace(&mut *self.lock(), State::Stopped);
            match state {
                State::Running(handle) => (handle.stop().map_err(MemberError::Node), handle.has_abandoned_hooks()),
                State::Member(member) => {
                    let serving = member.serving();
                    (member.stop(), serving.is_some_and(|handle| handle.has_abandoned_hooks()))
                }
                State::Configured(..) | State::Stopped => (Ok(()), false),
            }
        });
        let (stopped, has_abandoned_hooks) = stopped;
        stopped.map_err(|error| member_error(py, &error))?;
        if has_abandoned_hooks {
            let category = py.get_type::<PyRuntimeWarning>();
            let what = c"a hook or a strategy did not return when the broker stopped; its thread was left behind";
            PyErr::warn(py, &category, what, 2)?;
        }
        Ok(())
    }
}

/// Privileges go first: nobody knows when it will serve, and its listeners are opened only then.
fn start_member(plan: MemberPlan, config: &Config, on_bound: Option<OnBound>) -> Result<State, MemberError> {
    on_bound.map_or(Ok(()), |on_bound| on_bound())?;
    Ok(State::Member(Arc::new(plan.start(config)?)))
}

/// What it raises is kept in `raised`: the node itself only learns that it must not start.
fn on_bound_of(callable: Py<PyAny>, raised: Arc<Mutex<Option<PyErr>>>) -> OnBound {
    Box::new(move || {
        let Err(error) = Python::attach(|py| callable.call0(py).map(drop)) else { return Ok(()) };
        let source = std::io::Error::other(error.to_string());
        *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        Err(NodeError::System { doing: "give up privileges", source })
    })
}
