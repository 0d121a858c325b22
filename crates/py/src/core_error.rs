//! The one exception that leaves this module.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(
    lapwing._core,
    CoreError,
    PyException,
    "An error of the Rust side: `code` (stable, for programs), `message`, `remedy`, `evidence` (a dict); of the code \
     `unpublished` also `rejections`."
);

/// A piece of evidence: a name, and a number.
pub(crate) type Evidence<'a> = &'a [(&'a str, u64)];

/// Makes a `CoreError`; when even that fails, the failure is what Python gets.
pub(crate) fn core_error(py: Python<'_>, code: &str, message: &str, remedy: &str, evidence: Evidence<'_>) -> PyErr {
    let error = CoreError::new_err(message.to_owned());
    match dress(error.value(py), py, code, message, remedy, evidence) {
        Ok(()) => error,
        Err(failure) => failure,
    }
}

fn dress(
    value: &Bound<'_, pyo3::exceptions::PyBaseException>,
    py: Python<'_>,
    code: &str,
    message: &str,
    remedy: &str,
    evidence: Evidence<'_>,
) -> PyResult<()> {
    let numbers = PyDict::new(py);
    for (name, number) in evidence {
        numbers.set_item(name, number)?;
    }
    value.setattr("code", code)?;
    value.setattr("message", message)?;
    value.setattr("remedy", remedy)?;
    value.setattr("evidence", numbers)
}
