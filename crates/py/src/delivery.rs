//! `Delivery`: one message in the hands of a consumer.

use lapwing_client::{Message, Taken};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A message that a consumer has taken and that it will acknowledge or refuse. Fields are made when they are read.
#[pyclass(module = "lapwing._core", frozen)]
pub(crate) struct Delivery {
    pub(crate) taken: Taken,
    /// Python's own from the start: most consumers read it, and it may be large.
    payload: Py<PyBytes>,
}

impl Delivery {
    pub(crate) fn new(py: Python<'_>, mut taken: Taken) -> Self {
        let payload = PyBytes::new(py, &std::mem::take(&mut taken.message.payload)).unbind();
        Self { taken, payload }
    }

    fn message(&self) -> &Message {
        &self.taken.message
    }
}

#[pymethods]
impl Delivery {
    /// Where it was published.
    #[getter]
    fn topic<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.message().topic)
    }

    /// What was published.
    #[getter]
    fn payload(&self, py: Python<'_>) -> Py<PyBytes> {
        self.payload.clone_ref(py)
    }

    /// The quality it came with, 0 to 2.
    #[getter]
    fn qos(&self) -> u8 {
        self.message().qos as u8
    }

    /// It was retained.
    #[getter]
    fn retain(&self) -> bool {
        self.message().retain
    }

    /// The broker may have sent it before.
    #[getter]
    fn dup(&self) -> bool {
        self.message().dup
    }

    /// User properties in order; names may repeat (5.0).
    #[getter]
    fn user_properties(&self) -> Vec<(String, String)> {
        self.message().user_properties.clone()
    }

    /// What the payload is (5.0).
    #[getter]
    fn content_type(&self) -> Option<&str> {
        self.message().content_type.as_deref()
    }

    /// Where to answer (5.0).
    #[getter]
    fn response_topic(&self) -> Option<&str> {
        self.message().response_topic.as_deref()
    }

    /// What to answer with (5.0).
    #[getter]
    fn correlation_data<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.message().correlation_data.as_ref().map(|data| PyBytes::new(py, data))
    }

    /// Seconds it has left (5.0).
    #[getter]
    fn message_expiry_s(&self) -> Option<u32> {
        self.message().message_expiry_s
    }

    /// The first value of the user property `name`, or `None` (5.0).
    fn user_property(&self, name: &str) -> Option<&str> {
        let found = self.message().user_properties.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (message, bytes) = (self.message(), self.payload.bind(py).len().unwrap_or(0));
        format!("Delivery(topic={:?}, {bytes} bytes, qos={})", message.topic, message.qos as u8)
    }
}
