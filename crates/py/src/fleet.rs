//! `Fleet`: devices that publish what Python supplies, when Python says.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lapwing_swarm::{Action, FleetConfig, SwarmError, Task};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::client::{qos_of, seconds};
use crate::core_error::core_error;
use crate::swarm::{json, swarm_error};

/// A running fleet; its devices begin to connect when it is made.
#[pyclass(module = "lapwing._core", frozen)]
pub(crate) struct Fleet {
    // Shared, so that an `offer` that waits does not lock the others out.
    running: Mutex<Option<std::sync::Arc<lapwing_swarm::Fleet>>>,
}

const ENDED: SwarmError = SwarmError::Usage("the fleet has ended");

#[pymethods]
impl Fleet {
    /// Reads and checks the configuration and starts the threads.
    #[new]
    fn new(py: Python<'_>, config_json: &str) -> PyResult<Self> {
        let fleet = py.detach(|| FleetConfig::from_json(config_json).and_then(lapwing_swarm::Fleet::start));
        let fleet = fleet.map_err(|error| swarm_error(py, &error))?;
        Ok(Self { running: Mutex::new(Some(fleet.into())) })
    }

    /// Devices that should be connected before the start; compare with `online` of the counts.
    fn joined(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |fleet| Ok(fleet.joined()))
    }

    /// The counters as of now, as JSON.
    fn counts_json(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |fleet| json(&fleet.counts()))
    }

    /// Time 0 of the schedule: `start_ns` of the monotonic clock, or now.
    #[pyo3(signature = (start_ns=None))]
    fn go(&self, py: Python<'_>, start_ns: Option<u64>) -> PyResult<()> {
        self.with(py, |fleet| fleet.go(start_ns))
    }

    /// Hands messages over; gives how many were taken, from the front, before `timeout_s`.
    #[pyo3(signature = (devices, due_us, payloads, *, qos=1, retain=false, timeout_s=60.0))]
    #[allow(clippy::too_many_arguments, reason = "the columns of a batch")]
    fn offer(
        &self,
        py: Python<'_>,
        devices: &Bound<'_, PyAny>,
        due_us: &Bound<'_, PyAny>,
        payloads: Vec<Bound<'_, PyBytes>>,
        qos: u8,
        retain: bool,
        timeout_s: f64,
    ) -> PyResult<usize> {
        let qos = qos_of(py, qos)?;
        let publish =
            |payload: &Bound<'_, PyBytes>| Action::Publish { payload: payload.as_bytes().into(), qos, retain };
        let tasks = tasks(py, devices, due_us, payloads.iter().map(publish).collect())?;
        self.with(py, move |fleet| fleet.offer(tasks, seconds(timeout_s)))
    }

    /// Devices come and go: kinds are "join", "leave" (orderly) and "drop" (the connection breaks).
    #[pyo3(signature = (devices, due_us, kinds, *, timeout_s=60.0))]
    fn move_devices(
        &self,
        py: Python<'_>,
        devices: &Bound<'_, PyAny>,
        due_us: &Bound<'_, PyAny>,
        kinds: Vec<String>,
        timeout_s: f64,
    ) -> PyResult<usize> {
        let actions = kinds.iter().map(|kind| action(py, kind)).collect::<PyResult<Vec<Action>>>()?;
        let tasks = tasks(py, devices, due_us, actions)?;
        self.with(py, move |fleet| fleet.offer(tasks, seconds(timeout_s)))
    }

    /// Waits until all is done, nothing more can happen, or `timeout_s`; says goodbye; gives the report as JSON.
    fn finish_json(&self, py: Python<'_>, timeout_s: f64) -> PyResult<String> {
        let report = py.detach(|| {
            let fleet = self.lock().take().ok_or(ENDED)?;
            // An `offer` in another thread still holds it; that thread's error is "the fleet has ended".
            let fleet = std::sync::Arc::try_unwrap(fleet).map_err(|_| BUSY)?;
            json(&fleet.finish(seconds(timeout_s))?)
        });
        report.map_err(|error| swarm_error(py, &error))
    }
}

const BUSY: SwarmError = SwarmError::Usage("the fleet is finished while another thread still offers");

impl Fleet {
    fn lock(&self) -> MutexGuard<'_, Option<std::sync::Arc<lapwing_swarm::Fleet>>> {
        // A panic while the lock was held leaves a fleet that can still be ended.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&lapwing_swarm::Fleet) -> Result<T, SwarmError> + Send,
    ) -> PyResult<T> {
        let answer = py.detach(|| {
            let fleet = self.lock().clone();
            fleet.map_or(Err(ENDED), |fleet| ask(&fleet))
        });
        answer.map_err(|error| swarm_error(py, &error))
    }
}

fn action(py: Python<'_>, kind: &str) -> PyResult<Action> {
    match kind {
        "join" => Ok(Action::Join),
        "leave" => Ok(Action::Leave),
        "drop" => Ok(Action::Drop),
        _ => Err(core_error(py, "profile", &format!("kind = {kind:?}"), "A kind is join, leave or drop.", &[])),
    }
}

/// The columns of a batch as tasks.
fn tasks(
    py: Python<'_>,
    devices: &Bound<'_, PyAny>,
    due_us: &Bound<'_, PyAny>,
    actions: Vec<Action>,
) -> PyResult<Vec<Task>> {
    let (devices, due_us) = (numbers::<i32>(devices)?, numbers::<i64>(due_us)?);
    if devices.len() != actions.len() || due_us.len() != actions.len() {
        let message = format!("{} devices, {} times, {} actions", devices.len(), due_us.len(), actions.len());
        return Err(core_error(py, "profile", &message, "The columns of a batch are equally long.", &[]));
    }
    let rows = devices.into_iter().zip(due_us).zip(actions);
    // A negative device is no device, which `offer` says; a negative time is late.
    Ok(rows
        .map(|((device, due_us), action)| Task {
            device: u32::try_from(device).unwrap_or(u32::MAX),
            due_us: u64::try_from(due_us).unwrap_or(0),
            action,
        })
        .collect())
}

/// An array with the buffer protocol (int32 or int64 as asked), or any sequence of ints.
fn numbers<'py, T: Element + for<'a> FromPyObject<'a, 'py>>(column: &Bound<'py, PyAny>) -> PyResult<Vec<T>> {
    match PyBuffer::<T>::get(column) {
        Ok(buffer) => buffer.to_vec(column.py()),
        Err(_) => column.try_iter()?.map(|item| item?.extract::<T>().map_err(Into::into)).collect(),
    }
}
