//! `PyStrategist`: the node's trait for strategies, answered by a Python object (`lapwing.strategy.chooser.Chooser`).
//!
//! The interpreter lock is taken here, on the strategy's thread, once per batch: rows out, `answer(rows)`, numbers back.
//! What a strategy raises or answers wrongly the chooser logs and turns into [`FAILED`].

use std::sync::Arc;
use std::time::Duration;

use lapwing_node::{MemberState, Strategist, Strategy, StrategyAsk, StrategyFailure, Trial, TrialMember, Verdict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::core_error::core_error;

/// What the chooser answers instead of a member's place: let the message wait.
const WAIT: i64 = -1;
/// There is no answer.
const FAILED: i64 = -2;

/// A strategy written in Python.
pub(crate) struct PyStrategist {
    chooser: Py<PyAny>,
    member: Py<PyAny>,
}

/// A member as `try_strategy` is given it: client id, Receive Maximum, round trip and work in microseconds.
type MemberRow = (String, u16, u64, u64);
/// By message: which member finished it, and after how many microseconds.
type Finished = Vec<Option<(usize, u64)>>;

impl PyStrategist {
    /// Takes what the chooser says of itself.
    pub(crate) fn new(chooser: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(PyStrategist { member: chooser.getattr("member")?.unbind(), chooser: chooser.clone().unbind() })
    }

    fn answer(&self, py: Python<'_>, asks: &[StrategyAsk]) -> PyResult<Vec<Verdict>> {
        let mut shown: Option<(&Arc<[MemberState]>, Bound<'_, PyTuple>)> = None;
        let mut rows = Vec::with_capacity(asks.len());
        for ask in asks {
            // What was asked at once shares one picture of the members.
            let members = match &shown {
                Some((picture, members)) if Arc::ptr_eq(picture, &ask.question.members) => members.clone(),
                _ => self.members(py, ask)?,
            };
            shown = Some((&ask.question.members, members.clone()));
            rows.push(row(py, ask, &members)?);
        }
        let answers = self.chooser.bind(py).call_method1("answer", (PyList::new(py, rows)?,))?;
        let answers: Vec<i64> = answers.extract()?;
        Ok(asks.iter().zip(answers).map(|(ask, answer)| verdict(ask, answer)).collect())
    }

    fn members<'py>(&self, py: Python<'py>, ask: &StrategyAsk) -> PyResult<Bound<'py, PyTuple>> {
        let member = self.member.bind(py);
        let made = ask.question.members.iter().map(|one| {
            let client_id = ask.names.get(one.identity);
            let numbers = (one.rtt_ms, one.service_ms, one.overdue_ms);
            member.call1((
                client_id.as_deref().unwrap_or_default(),
                one.identity,
                numbers.0,
                numbers.1,
                numbers.2,
                one.inflight,
                one.limit,
                one.workers,
                one.can_take,
                one.is_blind,
            ))
        });
        PyTuple::new(py, made.collect::<PyResult<Vec<_>>>()?)
    }
}

impl Strategist for PyStrategist {
    fn choose(&mut self, asks: &[StrategyAsk]) -> Result<Vec<Verdict>, StrategyFailure> {
        let answered = Python::try_attach(|py| self.answer(py, asks).map_err(|error| error.to_string()));
        let answered = answered.unwrap_or_else(|| Err("Python is shutting down".into()));
        answered.map_err(|what| StrategyFailure { what })
    }
}

/// The arguments of `Ask`.
fn row<'py>(py: Python<'py>, ask: &StrategyAsk, members: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let work = &ask.question.work;
    let (number, backlog) = (ask.question.number, ask.question.backlog);
    (&*ask.group, number, members, backlog, work.is_critical, work.key, work.client, work.topic).into_pyobject(py)
}

/// What a number stands for.
fn verdict(ask: &StrategyAsk, answer: i64) -> Verdict {
    if answer == WAIT {
        return Verdict::Wait;
    }
    let named = usize::try_from(answer).ok().and_then(|place| ask.question.members.get(place));
    debug_assert!(named.is_some() || answer == FAILED, "{answer} is no answer");
    named.map_or(Verdict::Failed, |one| Verdict::To { member: one.member, identity: one.identity })
}

/// Runs messages through a group whose members are slept for, with the strategy on its thread as in a broker.
///
/// `(by message (member, microseconds) or None, counters, failures)`; times are microseconds.
#[pyfunction]
#[pyo3(signature = (chooser, members, fallback, timeout_us, messages, interval_us, within_us))]
#[allow(clippy::too_many_arguments, reason = "the fields of a trial")]
pub(crate) fn try_strategy<'py>(
    py: Python<'py>,
    chooser: &Bound<'py, PyAny>,
    members: Vec<MemberRow>,
    fallback: &str,
    timeout_us: u64,
    messages: u32,
    interval_us: u64,
    within_us: u64,
) -> PyResult<(Finished, Bound<'py, PyDict>, Vec<String>)> {
    let strategist = Box::new(PyStrategist::new(chooser)?);
    let fallback: Strategy =
        fallback.parse().map_err(|error: lapwing_node::StrategyError| PyValueError::new_err(error.to_string()))?;
    let us = Duration::from_micros;
    let member = |(client_id, receive_max, rtt_us, service_us)| TrialMember {
        client_id,
        receive_max,
        rtt: us(rtt_us),
        service: us(service_us),
    };
    let trial = Trial {
        members: members.into_iter().map(member).collect(),
        fallback,
        timeout: us(timeout_us),
        messages,
        interval: us(interval_us),
        within: us(within_us),
    };
    let report = py.detach(|| trial.run(strategist));
    let report = report.map_err(|error| core_error(py, error.code(), &error.to_string(), &error.remedy(), &[]))?;
    let counted = report.counters;
    let counters = PyDict::new(py);
    for (name, count) in [
        ("asked", counted.asked),
        ("answered", counted.answered),
        ("held", counted.held),
        ("failed", counted.failed),
        ("timed_out", counted.timed_out),
        ("late", counted.late),
        ("unable", counted.unable),
        ("overflowed", counted.overflowed),
    ] {
        counters.set_item(name, count)?;
    }
    Ok((report.finished, counters, report.failures))
}
