//! Jobs on a data folder: check, dump, repair, backup, restore.

use std::ops::ControlFlow;
use std::path::PathBuf;

use lapwing_node::inspect::{self, DumpWanted, InspectError, RepairWanted, Tell};
use pyo3::prelude::*;

use crate::core_error::core_error;

/// Reads all of a data folder; false: something is damaged.
#[pyfunction]
pub(crate) fn store_check(py: Python<'_>, data: PathBuf, tell: Bound<'_, PyAny>) -> PyResult<bool> {
    run(py, &tell, |tell| inspect::check(&data, tell))
}

/// Tells every record of the data groups, or of a stream.
#[pyfunction]
#[pyo3(signature = (data, tell, group=None, stream=None, payload=false))]
pub(crate) fn store_dump(
    py: Python<'_>,
    data: PathBuf,
    tell: Bound<'_, PyAny>,
    group: Option<u16>,
    stream: Option<String>,
    payload: bool,
) -> PyResult<()> {
    let wanted = DumpWanted { group, stream, payload };
    run(py, &tell, |tell| inspect::dump(&data, &wanted, tell))
}

/// Puts a data folder right; false: something is damaged and nothing was changed.
#[pyfunction]
#[pyo3(signature = (data, tell, accept_loss_of=Vec::new(), trial=false))]
pub(crate) fn store_repair(
    py: Python<'_>,
    data: PathBuf,
    tell: Bound<'_, PyAny>,
    accept_loss_of: Vec<String>,
    trial: bool,
) -> PyResult<bool> {
    let wanted = RepairWanted { accept_loss_of, trial };
    run(py, &tell, |tell| inspect::repair(&data, &wanted, tell))
}

/// Copies a data folder, also one that a broker uses; false: it was broken off.
#[pyfunction]
pub(crate) fn store_backup(py: Python<'_>, data: PathBuf, target: PathBuf, tell: Bound<'_, PyAny>) -> PyResult<bool> {
    run(py, &tell, |tell| inspect::backup(&data, &target, tell))
}

/// Makes a data folder of a copy; false: it was broken off.
#[pyfunction]
pub(crate) fn store_restore(py: Python<'_>, backup: PathBuf, data: PathBuf, tell: Bound<'_, PyAny>) -> PyResult<bool> {
    run(py, &tell, |tell| inspect::restore(&backup, &data, tell))
}

/// What a start would refuse of a data folder before it reads what is in it; None: nothing.
#[pyfunction]
pub(crate) fn data_folder_fault(py: Python<'_>, data: PathBuf) -> Option<String> {
    py.detach(|| inspect::folder_fault(&data))
}

/// What a start would refuse of a data folder because a file is gone, or is none, and whether it always would; None: nothing.
#[pyfunction]
pub(crate) fn data_files_fault(
    py: Python<'_>,
    data: PathBuf,
    streams: Vec<String>,
    has_groups: bool,
) -> Option<(String, bool)> {
    py.detach(|| inspect::files_fault(&data, &streams, has_groups))
}

/// Who has a data folder now: a process, or "unknown"; None: nobody.
#[pyfunction]
pub(crate) fn data_folder_holder(py: Python<'_>, data: PathBuf) -> Option<String> {
    let holder = py.detach(|| inspect::folder_holder(&data))?;
    Some(holder.map_or_else(|| "unknown".to_owned(), |process| process.to_string()))
}

/// The partitions that a stream was made with; None: nothing was ever kept of it, or it cannot be read.
#[pyfunction]
pub(crate) fn made_partitions(py: Python<'_>, data: PathBuf, stream: &str) -> Option<u32> {
    py.detach(|| inspect::made_partitions(&data, stream))
}

/// Why a start could not go on with an audit trail, and whether that is only that another broker writes it; None: it could.
#[pyfunction]
pub(crate) fn audit_trail_fault(py: Python<'_>, file: PathBuf, chained: bool) -> Option<(String, bool)> {
    py.detach(|| inspect::trail_fault(&file, chained))
}

/// Runs a job without the interpreter's lock. `tell` gets each object as JSON, and breaks off with something true, or by raising.
fn run<T: Send>(
    py: Python<'_>,
    tell: &Bound<'_, PyAny>,
    job: impl FnOnce(Tell<'_>) -> Result<T, InspectError> + Send,
) -> PyResult<T> {
    let tell = tell.clone().unbind();
    let mut raised = None;
    let result = py.detach(|| {
        job(&mut |object| {
            let text = object.to_string();
            let told = Python::attach(|py| tell.call1(py, (text,)).and_then(|answer| answer.is_truthy(py)));
            match told {
                Ok(false) => ControlFlow::Continue(()),
                Ok(true) => ControlFlow::Break(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    match raised {
        Some(error) => Err(error),
        None => result.map_err(|error| core_error(py, error.code(), &error.to_string(), &error.remedy(), &[])),
    }
}
