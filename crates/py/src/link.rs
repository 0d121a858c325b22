//! `Link`: a connection that a thread of its own keeps, for consumers and publishers.

use std::time::{Duration, Instant};

use lapwing_client::{Counters, Link as Inner, Phase, Publication, Refusal};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::os::fd::AsRawFd;

use crate::client::{client_error, qos_of, rows_of, seconds};
use crate::delivery::Delivery;
use crate::link_settings::{LinkSettings, user_properties};

/// A connection with bounded buffers both ways, made again when it breaks.
#[pyclass(module = "lapwing._core", frozen)]
pub(crate) struct Link {
    inner: Inner,
}

#[pymethods]
impl Link {
    /// Starts connecting; `wait_up` tells how that went.
    #[new]
    fn new(py: Python<'_>, settings: LinkSettings) -> PyResult<Self> {
        let options = settings.options(py)?;
        let inner = py.detach(|| Inner::start(options)).map_err(|error| client_error(py, &error))?;
        Ok(Self { inner })
    }

    /// Waits until it is connected and subscribed; false when the time is over. Raises what ended it.
    fn wait_up(&self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        py.detach(|| self.inner.wait_up(seconds(timeout_s))).map_err(|error| client_error(py, &error))
    }

    /// Takes up to `most` messages: waits for the first, then up to `linger_s` for the others.
    #[pyo3(signature = (most, timeout_s, linger_s=0.0))]
    fn take<'py>(&self, py: Python<'py>, most: usize, timeout_s: f64, linger_s: f64) -> PyResult<Bound<'py, PyList>> {
        let taken = if timeout_s > 0.0 || linger_s > 0.0 {
            py.detach(|| self.inner.take(most, seconds(timeout_s), seconds(linger_s)))
        } else {
            self.inner.take(most, Duration::ZERO, Duration::ZERO)
        };
        PyList::new(py, taken.into_iter().map(|one| Delivery::new(py, one)))
    }

    /// Finishes one message, if given, and takes the next; `None` when none came in time.
    fn turn(&self, py: Python<'_>, finished: Option<Py<Delivery>>, timeout_s: f64) -> Option<Delivery> {
        let finished = finished.as_ref().map(|one| &one.get().taken);
        let mut taken = self.inner.turn(finished, Duration::ZERO);
        if taken.is_none() && timeout_s > 0.0 {
            taken = py.detach(|| self.inner.turn(None, seconds(timeout_s)));
        }
        taken.map(|one| Delivery::new(py, one))
    }

    /// True once nothing waits and nothing more will come; raises what ended the connection.
    fn is_dry(&self, py: Python<'_>) -> PyResult<bool> {
        self.inner.is_dry().map_err(|error| client_error(py, &error))
    }

    /// Says that the work on them is done: they are acknowledged.
    fn finish(&self, deliveries: Vec<Py<Delivery>>) {
        self.inner.finish(deliveries.iter().map(|one| &one.get().taken), None, Instant::now());
    }

    /// Refuses them with a reason code of 0x80 and above and words for people.
    fn refuse(&self, py: Python<'_>, deliveries: Vec<Py<Delivery>>, reason: u8, words: &str) -> PyResult<()> {
        let refusal = Refusal::new(reason, words).map_err(|error| client_error(py, &error))?;
        self.inner.finish(deliveries.iter().map(|one| &one.get().taken), Some(&refusal), Instant::now());
        Ok(())
    }

    /// Leaves them unanswered: they come again.
    fn leave(&self, deliveries: Vec<Py<Delivery>>) {
        self.inner.leave(deliveries.iter().map(|one| &one.get().taken));
    }

    /// Hands a message over and gives its number; `None` when there was no room in time.
    #[pyo3(signature = (topic, payload, qos=0, retain=false, *, user_properties=Vec::new(), content_type=None,
        response_topic=None, correlation_data=None, message_expiry_s=None, timeout_s=0.0))]
    #[allow(clippy::too_many_arguments, reason = "the parts of a message, by name")]
    fn publish(
        &self,
        py: Python<'_>,
        topic: String,
        payload: &[u8],
        qos: u8,
        retain: bool,
        user_properties: Vec<(String, String)>,
        content_type: Option<String>,
        response_topic: Option<String>,
        correlation_data: Option<Vec<u8>>,
        message_expiry_s: Option<u32>,
        timeout_s: f64,
    ) -> PyResult<Option<u64>> {
        let user = self::user_properties(&user_properties).map_err(|error| client_error(py, &error))?;
        let (payload, qos) = (payload.to_vec(), qos_of(py, qos)?);
        let publication = Publication {
            topic,
            payload,
            qos,
            retain,
            user,
            content_type,
            response_topic,
            correlation_data,
            message_expiry_s,
            since: None,
        };
        // The lock is held for moments only: giving the interpreter away for that would cost more.
        let offered = self.inner.publish(publication, Duration::ZERO);
        let offered = match offered {
            Ok(Err(publication)) if timeout_s > 0.0 => {
                py.detach(|| self.inner.publish(publication, seconds(timeout_s)))
            }
            other => other,
        };
        Ok(offered.map_err(|error| client_error(py, &error))?.ok())
    }

    /// Waits until everything published is answered; false when the time is over. Raises for what was refused.
    fn flush(&self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        py.detach(|| self.inner.flush(seconds(timeout_s))).map_err(|error| client_error(py, &error))
    }

    /// What was refused since the last call, of this or of `flush`: number, topic, reason code, words of each.
    fn rejections(&self) -> Vec<(u64, String, u8, String)> {
        rows_of(&self.inner.rejections())
    }

    /// Tells the broker how things stand.
    fn report(&self) {
        self.inner.report();
    }

    /// Declares what this consumer is: a JSON object, as a report.
    fn declare(&self, declaration: String) {
        self.inner.declare(declaration);
    }

    /// Takes in no more; what waits can still be taken.
    fn drain(&self) {
        self.inner.drain();
    }

    /// Sends and waits for answers, says goodbye and closes; true when everything was answered.
    fn close(&self, py: Python<'_>, timeout_s: f64) -> bool {
        py.detach(|| self.inner.close(seconds(timeout_s)))
    }

    /// Closes without a word.
    fn abort(&self) {
        self.inner.abort();
    }

    /// How things stand, and what was counted.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counters(py, &self.inner.counters())
    }

    /// A descriptor that becomes readable when there is news; then call `heard`.
    fn fileno(&self) -> i32 {
        self.inner.watch().as_raw_fd()
    }

    /// The next news makes the descriptor readable again.
    fn heard(&self) {
        self.inner.heard();
    }
}

fn counters<'py>(py: Python<'py>, now: &Counters) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let phase = match now.phase {
        Phase::Starting => "starting",
        Phase::Up => "up",
        Phase::Away => "away",
        Phase::Over => "over",
    };
    dict.set_item("phase", phase)?;
    dict.set_item("is_high", now.is_high)?;
    dict.set_item("is_told", now.is_told)?;
    let sizes = [
        ("waiting", now.waiting),
        ("waiting_bytes", now.waiting_bytes),
        ("working", now.working),
        ("unanswered", now.unanswered),
    ];
    sizes.iter().try_for_each(|(name, size)| dict.set_item(name, size))?;
    let counts = [
        ("received", now.received),
        ("processed", now.processed),
        ("refused", now.refused),
        ("late", now.late),
        ("returned", now.returned),
        ("dropped", now.dropped),
        ("service_us", now.service_us),
        ("rate_per_s", now.rate_per_s),
        ("reports", now.reports),
        ("connections", now.connections),
        ("published", now.published),
        ("acknowledged", now.acknowledged),
        ("rejected", now.rejected),
        ("sent_again", now.sent_again),
    ];
    counts.iter().try_for_each(|(name, count)| dict.set_item(name, count))?;
    Ok(dict)
}
