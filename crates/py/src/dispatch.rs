//! What may be set for consumer groups.

use pyo3::prelude::*;

/// The strategies, their parameters and the defaults of groups, as JSON.
#[pyfunction]
pub(crate) fn dispatch_table_json() -> String {
    lapwing_node::dispatch_table_json()
}
