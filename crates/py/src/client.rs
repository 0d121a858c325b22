//! `Client`: one blocking connection to a broker.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lapwing_client::{BlockingClient, ClientError, LastWill, Message, Options, QoS, ReasonCode, Rejections, Version};
use lapwing_client::{
    PacketId, Publish, PublishProperties, RetainHandling, SubscriptionId, SubscriptionOptions, TlsOptions,
    UserPropertiesBuf,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::core_error::core_error;

/// A message, as a tuple: topic, payload, qos, retain, dup, user properties, content type, response topic,
/// correlation data, message expiry in seconds, subscription identifiers.
type Row<'py> = (
    String,
    Bound<'py, PyBytes>,
    u8,
    bool,
    bool,
    Vec<(String, String)>,
    Option<String>,
    Option<String>,
    Option<Bound<'py, PyBytes>>,
    Option<u32>,
    Vec<u32>,
);

/// A will as Python gives it: topic, payload, qos, retain, delay in seconds.
type WillRow = (String, Vec<u8>, u8, bool, u32);

/// A connected client; connects when it is made. Calls from several Python threads wait for each other.
#[pyclass(module = "lapwing._core", frozen)]
pub(crate) struct Client {
    inner: Mutex<Option<BlockingClient>>,
}

#[pymethods]
impl Client {
    /// Connects and waits for the broker's answer.
    #[new]
    #[pyo3(signature = (url, client_id="", version=5, *, clean_start=true, session_expiry_s=0, keep_alive_s=60,
        receive_maximum=1024, username=None, password=None, will=None, ca=None, certificate=None, key=None,
        timeout_s=10.0))]
    #[allow(clippy::too_many_arguments, reason = "the options of a connection, by name")]
    fn new(
        py: Python<'_>,
        url: &str,
        client_id: &str,
        version: u8,
        clean_start: bool,
        session_expiry_s: u32,
        keep_alive_s: u16,
        receive_maximum: u16,
        username: Option<String>,
        password: Option<Vec<u8>>,
        will: Option<WillRow>,
        ca: Option<PathBuf>,
        certificate: Option<PathBuf>,
        key: Option<PathBuf>,
        timeout_s: f64,
    ) -> PyResult<Self> {
        let options = Options {
            client_id: client_id.to_owned(),
            version: Version::from_level(version).ok_or_else(|| invalid(py, "version", version, "4 or 5"))?,
            clean_start,
            session_expiry_s,
            keep_alive_s,
            receive_maximum,
            username,
            password,
            will: will.map(|will| last_will(py, will)).transpose()?,
            tls: TlsOptions { ca, certificate, key },
            ..Options::default()
        };
        let client = py.detach(|| BlockingClient::connect(url, &options, seconds(timeout_s)));
        let client = client.map_err(|error| client_error(py, &error))?;
        Ok(Self { inner: Mutex::new(Some(client)) })
    }

    /// True when the broker still had this client's session.
    fn session_present(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |client| Ok(client.session_present()))
    }

    /// The client id the broker chose, if this client came without one.
    fn assigned_client_id(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |client| Ok(client.assigned_client_id().map(str::to_owned)))
    }

    /// QoS 0 messages dropped because nobody took them.
    fn dropped(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |client| Ok(client.dropped()))
    }

    /// Sends a message, or with `hold` leaves it for the next call that sends; `flush` waits for the answers.
    #[pyo3(signature = (topic, payload, qos=0, retain=false, *, user_properties=Vec::new(), content_type=None,
        response_topic=None, correlation_data=None, message_expiry_s=None, packet_id=None, hold=false,
        timeout_s=10.0))]
    #[allow(clippy::too_many_arguments, reason = "the parts of a message, by name")]
    fn publish(
        &self,
        py: Python<'_>,
        topic: &str,
        payload: &[u8],
        qos: u8,
        retain: bool,
        user_properties: Vec<(String, String)>,
        content_type: Option<&str>,
        response_topic: Option<&str>,
        correlation_data: Option<&[u8]>,
        message_expiry_s: Option<u32>,
        packet_id: Option<u16>,
        hold: bool,
        timeout_s: f64,
    ) -> PyResult<u64> {
        let qos = qos_of(py, qos)?;
        let packet_id = packet_id.map(|id| PacketId::new(id).ok_or_else(|| invalid(py, "packet_id", id, "1 to 65535")));
        let packet_id = packet_id.transpose()?;
        self.with(py, |client| {
            let mut user = UserPropertiesBuf::new();
            user_properties.iter().try_for_each(|(name, value)| user.push(name, value))?;
            let properties = PublishProperties {
                user: user.as_ref(),
                content_type,
                response_topic,
                correlation_data,
                message_expiry_s,
                ..Default::default()
            };
            let publish = Publish { dup: false, qos, retain, topic, packet_id, properties, payload };
            let timeout = seconds(timeout_s);
            if hold { client.hold(&publish, timeout) } else { client.publish(&publish, timeout) }
        })
    }

    /// Waits until the broker has answered every publish.
    fn flush(&self, py: Python<'_>, timeout_s: f64) -> PyResult<()> {
        self.with(py, |client| client.flush(seconds(timeout_s)))
    }

    /// Subscribes; gives the granted QoS of each filter.
    #[pyo3(signature = (filters, qos=0, *, no_local=false, retain_as_published=false, retain_handling=0,
        subscription_id=None, timeout_s=10.0))]
    #[allow(clippy::too_many_arguments, reason = "the options of a subscription, by name")]
    fn subscribe(
        &self,
        py: Python<'_>,
        filters: Vec<String>,
        qos: u8,
        no_local: bool,
        retain_as_published: bool,
        retain_handling: u8,
        subscription_id: Option<u32>,
        timeout_s: f64,
    ) -> PyResult<Vec<u16>> {
        let retain_handling = retain_handling_of(py, retain_handling)?;
        let options = SubscriptionOptions { qos: qos_of(py, qos)?, no_local, retain_as_published, retain_handling };
        let id = subscription_id
            .map(|id| SubscriptionId::new(id).ok_or_else(|| invalid(py, "subscription_id", id, "1 to 268435455")))
            .transpose()?;
        self.with(py, |client| {
            let asked: Vec<_> = filters.iter().map(|filter| (filter.as_str(), options)).collect();
            // Not bytes: PyO3 turns a `Vec<u8>` into Python's `bytes`.
            Ok(client.subscribe(&asked, id, seconds(timeout_s))?.into_iter().map(|qos| qos as u16).collect())
        })
    }

    /// Gives filters up.
    #[pyo3(signature = (filters, *, timeout_s=10.0))]
    fn unsubscribe(&self, py: Python<'_>, filters: Vec<String>, timeout_s: f64) -> PyResult<()> {
        self.with(py, |client| {
            let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
            client.unsubscribe(&filters, seconds(timeout_s))
        })
    }

    /// Takes (and acknowledges) the next message; `None` when none came in time.
    fn receive<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Option<Row<'py>>> {
        let message = self.with(py, |client| client.receive(seconds(timeout_s)))?;
        Ok(message.map(|message| row(py, message)))
    }

    /// Says goodbye and closes; `with_will` lets the will go out, `session_expiry_s` is how long the session stays (5.0).
    /// Does nothing when it is closed.
    #[pyo3(signature = (*, with_will=false, session_expiry_s=None, timeout_s=10.0))]
    fn disconnect(
        &self,
        py: Python<'_>,
        with_will: bool,
        session_expiry_s: Option<u32>,
        timeout_s: f64,
    ) -> PyResult<()> {
        let reason = if with_will { ReasonCode::DisconnectWithWill } else { ReasonCode::Success };
        let gone = py.detach(|| {
            let mut held = self.lock();
            // Asked before it is taken: a goodbye that cannot be said leaves the connection as it is.
            held.as_ref().map_or(Ok(()), |client| client.check_expiry(session_expiry_s))?;
            match held.take() {
                Some(client) => client.disconnect(reason, session_expiry_s, seconds(timeout_s)),
                None => Ok(()),
            }
        });
        gone.map_err(|error| client_error(py, &error))
    }

    /// Closes without a word: the broker sends the will.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| drop(self.lock().take()));
    }
}

impl Client {
    fn lock(&self) -> MutexGuard<'_, Option<BlockingClient>> {
        // A panic while the lock was held is a bug; the connection behind it is as good as any lost one.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&mut BlockingClient) -> Result<T, ClientError> + Send,
    ) -> PyResult<T> {
        let answer = py.detach(|| match &mut *self.lock() {
            Some(client) => ask(client),
            None => Err(ClientError::NotConnected),
        });
        answer.map_err(|error| client_error(py, &error))
    }
}

fn row(py: Python<'_>, message: Message) -> Row<'_> {
    (
        message.topic,
        PyBytes::new(py, &message.payload),
        message.qos as u8,
        message.retain,
        message.dup,
        message.user_properties,
        message.content_type,
        message.response_topic,
        message.correlation_data.map(|data| PyBytes::new(py, &data)),
        message.message_expiry_s,
        message.subscription_ids,
    )
}

fn last_will(py: Python<'_>, will: WillRow) -> PyResult<LastWill> {
    let (topic, payload, qos, retain, delay_s) = will;
    Ok(LastWill { topic, payload, qos: qos_of(py, qos)?, retain, delay_s })
}

pub(crate) fn qos_of(py: Python<'_>, qos: u8) -> PyResult<QoS> {
    QoS::from_u8(qos).ok_or_else(|| invalid(py, "qos", qos, "0, 1 or 2"))
}

fn retain_handling_of(py: Python<'_>, number: u8) -> PyResult<RetainHandling> {
    match number {
        0 => Ok(RetainHandling::Send),
        1 => Ok(RetainHandling::SendIfNew),
        2 => Ok(RetainHandling::DoNotSend),
        _ => Err(invalid(py, "retain_handling", number, "0, 1 or 2")),
    }
}

pub(crate) fn invalid(py: Python<'_>, key: &str, value: impl std::fmt::Display, remedy: &str) -> PyErr {
    core_error(py, "invalid", &format!("{key} = {value}"), &format!("{key} is {remedy}."), &[])
}

/// A timeout from Python: what is negative is 0, what is endless is as long as it gets.
pub(crate) fn seconds(timeout_s: f64) -> Duration {
    Duration::try_from_secs_f64(timeout_s.max(0.0)).unwrap_or(Duration::from_secs(366 * 86_400))
}

pub(crate) fn client_error(py: Python<'_>, error: &ClientError) -> PyErr {
    let (code, remedy, reason) = match error {
        ClientError::Unreachable { .. } => ("unreachable", "Check the address, and that a broker runs there.", None),
        ClientError::Tls(_) => (
            "tls",
            "Check the broker's name and its certificate, and whom you trust (ca), or your own certificate.",
            None,
        ),
        ClientError::WebSocket(_) => ("websocket", "Check the address: ws://HOST:PORT/PATH.", None),
        ClientError::Refused { reason, .. } => {
            ("refused", "Ask the broker's operator, or connect otherwise.", Some(reason))
        }
        ClientError::Disconnected { reason, .. } => ("disconnected", "", Some(reason)),
        ClientError::Lost(_) => ("lost", "Connect again.", None),
        ClientError::Protocol(error) => ("protocol", "Report it to the maker of the broker.", Some(&error.reason)),
        ClientError::Rejected { reason, .. } => ("rejected", "", Some(reason)),
        ClientError::Unpublished(rejections) => return unpublished(py, rejections),
        ClientError::TimedOut { .. } => ("timed_out", "Wait longer, or look at the broker.", None),
        ClientError::Invalid(_) => ("invalid", "", None),
        ClientError::NotConnected => ("not_connected", "Connect first.", None),
    };
    let number = reason.map(|reason| ("reason", u64::from(reason.value())));
    core_error(py, code, &error.to_string(), remedy, number.as_slice())
}

/// Of each message, as far as that is known, its number, its topic, the reason code, and why in words.
pub(crate) fn rows_of(rejections: &Rejections) -> Vec<(u64, String, u8, String)> {
    rejections.iter().map(|one| (one.number, one.topic.to_owned(), one.reason.value(), one.why())).collect()
}

/// Says of each message what [`rows_of`] gives.
fn unpublished(py: Python<'_>, rejections: &Rejections) -> PyErr {
    let count = ("count", rejections.count() as u64);
    let error = core_error(py, "unpublished", &rejections.to_string(), "", &[count]);
    match error.value(py).setattr("rejections", rows_of(rejections)) {
        Ok(()) => error,
        Err(failure) => failure,
    }
}
