//! What may be set, and what holds where it is not.

use pyo3::prelude::*;

/// The strategies, their parameters and the defaults of groups, as JSON.
#[pyfunction]
pub(crate) fn dispatch_table_json() -> String {
    lapwing_node::dispatch_table_json()
}

/// The node's configuration with every default, as JSON.
#[pyfunction]
pub(crate) fn default_tables_json() -> String {
    lapwing_node::default_tables_json()
}
