//! `Swarm` and `Sink`: load and measurement, and the server that measures the swarm itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lapwing_swarm::{EndWatch, Outcome, Profile, Report, SinkConfig, SwarmError};
use pyo3::prelude::*;
use serde::Serialize;

use crate::client::seconds;
use crate::core_error::core_error;

/// One process's part of a run: made, it starts its threads and its clients come in.
#[pyclass(module = "lapwing._core", frozen)]
pub(crate) struct Swarm {
    running: Mutex<Option<(lapwing_swarm::Swarm, EndWatch)>>,
}

#[pymethods]
impl Swarm {
    /// Reads and checks the profile and starts.
    #[new]
    fn new(py: Python<'_>, profile_json: &str) -> PyResult<Self> {
        let started = py.detach(|| {
            let profile = Profile::from_json(profile_json)?;
            let watch = EndWatch::new(&profile);
            Ok((lapwing_swarm::Swarm::start(profile)?, watch))
        });
        Ok(Self { running: Mutex::new(Some(started.map_err(|error| swarm_error(py, &error))?)) })
    }

    /// True when every client is connected and subscribed.
    fn is_ready(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |(swarm, _)| swarm.is_ready())
    }

    /// Lets the messages begin, at `start_ns` of the monotonic clock or at once.
    #[pyo3(signature = (start_ns=None))]
    fn go(&self, py: Python<'_>, start_ns: Option<u64>) -> PyResult<()> {
        self.with(py, |(swarm, _)| {
            swarm.go(start_ns);
            Ok(())
        })
    }

    /// How far it is, as JSON.
    fn progress_json(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |(swarm, _)| json(&swarm.progress()))
    }

    /// Waits up to `timeout_s` for the end: everything has arrived, or nothing more will. True when it is over; one of
    /// several processes is over only when it cannot go on.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        self.with(py, |(swarm, watch)| Ok(swarm.wait_for_end(watch, seconds(timeout_s))))
    }

    /// Publishes no more; what is under way may still arrive.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |(swarm, _)| {
            swarm.cancel();
            Ok(())
        })
    }

    /// Ends and gives the raw figures as JSON, for `swarm_report_json`.
    fn finish_json(&self, py: Python<'_>) -> PyResult<String> {
        let finished = py.detach(|| match self.lock().take() {
            Some((swarm, _)) => swarm.finish().and_then(|outcome| json(&outcome)),
            None => Err(ENDED),
        });
        finished.map_err(|error| swarm_error(py, &error))
    }
}

const ENDED: SwarmError = SwarmError::Usage("the run has ended");

impl Swarm {
    fn lock(&self) -> MutexGuard<'_, Option<(lapwing_swarm::Swarm, EndWatch)>> {
        // A panic while the lock was held leaves a run that can still be ended.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&mut (lapwing_swarm::Swarm, EndWatch)) -> Result<T, SwarmError> + Send,
    ) -> PyResult<T> {
        let answer = py.detach(|| self.lock().as_mut().map_or(Err(ENDED), ask));
        answer.map_err(|error| swarm_error(py, &error))
    }
}

/// One report, as JSON, from the raw figures of every process of a run.
#[pyfunction]
pub(crate) fn swarm_report_json(py: Python<'_>, profile_json: &str, outcomes_json: Vec<String>) -> PyResult<String> {
    let report = py.detach(|| {
        let profile = Profile::from_json(profile_json)?;
        let mut sum = Outcome::default();
        for outcome in &outcomes_json {
            sum.merge(&serde_json::from_str(outcome)?);
        }
        json(&Report::new(&profile, &sum))
    });
    report.map_err(|error| swarm_error(py, &error))
}

/// The monotonic clock in nanoseconds, the same in every process of this machine.
#[pyfunction]
pub(crate) fn monotonic_ns() -> u64 {
    lapwing_swarm::now_ns()
}

/// A server that takes everything and keeps nothing.
#[pyclass(module = "lapwing._core", frozen)]
pub(crate) struct Sink {
    running: Mutex<Option<lapwing_swarm::Sink>>,
}

#[pymethods]
impl Sink {
    /// Listens and starts its thread.
    #[new]
    #[pyo3(signature = (host="127.0.0.1", port=0, *, echo=false, cut_every=None, spin=false, pin=None))]
    fn new(
        py: Python<'_>,
        host: &str,
        port: u16,
        echo: bool,
        cut_every: Option<u64>,
        spin: bool,
        pin: Option<usize>,
    ) -> PyResult<Self> {
        let config = SinkConfig { echo, cut_every, spin, pin, ..SinkConfig::on(host, port) };
        let sink = py.detach(|| lapwing_swarm::Sink::start(&config)).map_err(|error| swarm_error(py, &error))?;
        Ok(Self { running: Mutex::new(Some(sink)) })
    }

    /// Where it listens.
    fn url(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |sink| Ok(sink.url()))
    }

    /// What it has taken in, as JSON.
    fn figures_json(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |sink| json(&sink.figures()))
    }

    /// Ends it; does nothing when it has ended.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| drop(self.running.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

impl Sink {
    fn with<T>(&self, py: Python<'_>, ask: impl FnOnce(&lapwing_swarm::Sink) -> Result<T, SwarmError>) -> PyResult<T> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = running.as_ref().map_or(Err(SwarmError::Usage("the sink has ended")), ask);
        answer.map_err(|error| swarm_error(py, &error))
    }
}

pub(crate) fn json(value: &impl Serialize) -> Result<String, SwarmError> {
    Ok(serde_json::to_string(value)?)
}

pub(crate) fn swarm_error(py: Python<'_>, error: &SwarmError) -> PyErr {
    core_error(py, error.code(), &error.to_string(), error.remedy(), &[])
}
