//! `PyHooks`: the node's trait for hooks, answered by a Python object (`lapwing.hooks.dispatch.Dispatcher`).
//!
//! The interpreter lock is taken here, on the hook thread, once per batch: rows out, `answer(rows)`, answers back. What a
//! hook raises the dispatcher turns into an answer of its own; what it answers wrongly concerns that call alone.

use std::collections::HashMap;

use lapwing_node::{
    HookAnswer, HookCall, HookClient, HookFailure, HookMessage, HookName, Hooks, Interests, QoS, ReasonCode,
    RetainHandling, SubscriptionOptions,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

/// Hooks written in Python.
pub(crate) struct PyHooks {
    interests: Interests,
    dispatcher: Py<PyAny>,
    client_info: Py<PyAny>,
}

/// The Python objects of the clients in one batch, by the place of theirs in memory: a run of messages has one client.
type Clients<'py> = HashMap<*const HookClient, Bound<'py, PyAny>>;

/// A changed message as the dispatcher gives it; see `_tell_publish` there.
type ChangedRow = (
    String,
    Vec<u8>,
    u8,
    bool,
    Vec<(String, String)>,
    Option<String>,
    Option<String>,
    Option<Vec<u8>>,
    Option<u32>,
    Option<bool>,
);

impl PyHooks {
    /// Takes what the dispatcher says of itself.
    pub(crate) fn new(dispatcher: &Bound<'_, PyAny>) -> PyResult<Self> {
        let names: Vec<String> = dispatcher.getattr("interests")?.extract()?;
        let hook = |name: &String| {
            HookName::from_name(name).ok_or_else(|| PyValueError::new_err(format!("{name} is no hook")))
        };
        Ok(PyHooks {
            interests: names.iter().map(hook).collect::<PyResult<Interests>>()?,
            client_info: dispatcher.getattr("client_info")?.unbind(),
            dispatcher: dispatcher.clone().unbind(),
        })
    }

    fn answer(&self, py: Python<'_>, calls: &[HookCall]) -> PyResult<Vec<HookAnswer>> {
        let mut clients = Clients::new();
        let rows: Vec<_> = calls.iter().map(|call| self.row(py, call, &mut clients)).collect::<PyResult<_>>()?;
        let dispatcher = self.dispatcher.bind(py);
        let answers = dispatcher.call_method1("answer", (PyList::new(py, rows)?,))?;
        let answers = answers.cast_into::<PyList>()?;
        Ok(calls
            .iter()
            .zip(answers.iter())
            .map(|(call, answer)| {
                read(&answer).unwrap_or_else(|error| {
                    // A hook that returned the wrong types: told as if it had raised.
                    let told = dispatcher.call_method1("failed", (call.hook().as_str(), error.value(py)));
                    if let Err(unlogged) = told {
                        unlogged.write_unraisable(py, Some(dispatcher));
                    }
                    HookAnswer::Failed
                })
            })
            .collect())
    }

    /// `(hook, arguments)` of one call.
    fn row<'py>(
        &self,
        py: Python<'py>,
        call: &HookCall,
        clients: &mut Clients<'py>,
    ) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
        let mut client = |who: &std::sync::Arc<HookClient>| self.client(py, who, clients);
        let arguments = match call {
            HookCall::Connect(call) => (
                client(&call.client)?,
                &call.username,
                call.password.as_ref().map(|password| PyBytes::new(py, password)),
                call.clean_start,
                call.keep_alive_s,
                call.will.as_ref().map(|will| message_row(py, will, true)).transpose()?,
                properties(py, &call.user_properties)?,
            )
                .into_pyobject(py)?,
            HookCall::Auth(call) => (
                client(&call.client)?,
                &call.method,
                call.data.as_ref().map(|data| PyBytes::new(py, data)),
                call.is_first,
                call.again,
            )
                .into_pyobject(py)?,
            HookCall::Subscribe(call) => {
                let options = call.options;
                let asked = (options.qos as u8, options.no_local, options.retain_as_published);
                let (client, handling) = (client(&call.client)?, options.retain_handling as u8);
                (client, &*call.filter, asked.0, asked.1, asked.2, handling, call.subscription_id).into_pyobject(py)?
            }
            HookCall::Publish { client: who, message, is_will } => {
                (client(who)?, message_row(py, message, *is_will)?).into_pyobject(py)?
            }
            HookCall::Published { client: who, message } => {
                (client(who)?, message_row(py, message, false)?).into_pyobject(py)?
            }
            HookCall::Connected { client: who, session_present } => {
                (client(who)?, *session_present).into_pyobject(py)?
            }
            HookCall::Disconnected { client: who, reason } => {
                (client(who)?, reason.map(|reason| reason as u8)).into_pyobject(py)?
            }
            HookCall::Subscribed { client: who, filter, qos } => (client(who)?, &**filter, *qos).into_pyobject(py)?,
            HookCall::Unsubscribed { client: who, filter } => (client(who)?, &**filter).into_pyobject(py)?,
        };
        Ok((call.hook().as_str(), arguments.into_any()))
    }

    fn client<'py>(
        &self,
        py: Python<'py>,
        who: &std::sync::Arc<HookClient>,
        clients: &mut Clients<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let place = std::sync::Arc::as_ptr(who);
        if let Some(known) = clients.get(&place) {
            return Ok(known.clone());
        }
        let arguments = (&*who.client_id, who.identity.as_deref(), &*who.address, who.version);
        let made = self.client_info.bind(py).call1(arguments)?;
        clients.insert(place, made.clone());
        Ok(made)
    }
}

impl Hooks for PyHooks {
    fn interests(&self) -> Interests {
        self.interests
    }

    fn call(&mut self, calls: &[HookCall]) -> Result<Vec<HookAnswer>, HookFailure> {
        let answered = Python::try_attach(|py| self.answer(py, calls).map_err(|error| error.to_string()));
        let answered = answered.unwrap_or_else(|| Err("Python is shutting down".into()));
        answered.map_err(|what| HookFailure { what })
    }
}

/// The fields of `Message` behind its client.
fn message_row<'py>(py: Python<'py>, message: &HookMessage, is_will: bool) -> PyResult<Bound<'py, PyTuple>> {
    (
        &*message.topic,
        PyBytes::new(py, &message.payload),
        message.qos as u8,
        message.retain,
        properties(py, &message.user_properties)?,
        message.content_type.as_deref(),
        message.response_topic.as_deref(),
        message.correlation_data.as_ref().map(|data| PyBytes::new(py, data)),
        message.message_expiry_s,
        message.payload_is_utf8,
        is_will,
    )
        .into_pyobject(py)
}

fn properties<'py>(py: Python<'py>, pairs: &[(String, String)]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, pairs.iter().map(|(key, value)| (&**key, &**value)))
}

/// Reads one answer of the dispatcher.
fn read(answer: &Bound<'_, PyAny>) -> PyResult<HookAnswer> {
    if answer.is_none() {
        return Ok(HookAnswer::Pass);
    }
    let row = answer.cast::<PyTuple>()?;
    let kind = row.get_item(0)?;
    match kind.extract::<&str>()? {
        "refuse" => {
            let (_, code, text): (&str, u8, Option<String>) = row.extract()?;
            let reason = ReasonCode::from_u8(code)
                .ok_or_else(|| PyValueError::new_err(format!("0x{code:02X} is no reason code of MQTT 5.0")))?;
            Ok(HookAnswer::Refuse { reason, text: text.map(String::into_boxed_str) })
        }
        "admit" => Ok(HookAnswer::Admit(row.get_item(1)?.extract::<Option<String>>()?.map(String::into_boxed_str))),
        "change" => Ok(HookAnswer::Change(Box::new(changed(row.get_item(1)?.extract()?)?))),
        "grant" => grant(row.extract()?),
        "continue" => {
            Ok(HookAnswer::Continue(row.get_item(1)?.extract::<Option<Vec<u8>>>()?.map(Vec::into_boxed_slice)))
        }
        "success" => {
            let (_, identity, data): (&str, Option<String>, Option<Vec<u8>>) = row.extract()?;
            let (identity, data) = (identity.map(String::into_boxed_str), data.map(Vec::into_boxed_slice));
            Ok(HookAnswer::Success { data, identity })
        }
        "failed" => Ok(HookAnswer::Failed),
        other => Err(PyTypeError::new_err(format!("{other:?} is no answer"))),
    }
}

fn changed(row: ChangedRow) -> PyResult<HookMessage> {
    let (
        topic,
        payload,
        qos,
        retain,
        user_properties,
        content_type,
        response_topic,
        correlation_data,
        expiry_s,
        is_utf8,
    ) = row;
    Ok(HookMessage {
        topic,
        payload,
        qos: QoS::from_u8(qos).ok_or_else(|| PyValueError::new_err("a QoS is 0, 1 or 2"))?,
        retain,
        payload_is_utf8: is_utf8,
        message_expiry_s: expiry_s,
        response_topic,
        correlation_data,
        content_type,
        user_properties,
    })
}

fn grant((_, qos, no_local, retain_as_published, handling): (String, u8, bool, bool, u8)) -> PyResult<HookAnswer> {
    let retain_handling = match handling {
        0 => RetainHandling::Send,
        1 => RetainHandling::SendIfNew,
        2 => RetainHandling::DoNotSend,
        _ => return Err(PyValueError::new_err("retain_handling is 0, 1 or 2")),
    };
    let qos = QoS::from_u8(qos).ok_or_else(|| PyValueError::new_err("a QoS is 0, 1 or 2"))?;
    Ok(HookAnswer::Grant(SubscriptionOptions { qos, no_local, retain_as_published, retain_handling }))
}
