//! `lapwing._core`: what Python sees of the Rust side.
//!
//! Rules of this room:
//! - It converts arguments, results and errors, and nothing else. One file per class.
//! - The interpreter lock is released around everything that waits, reads a disk or burns a core.
//! - An error becomes a `CoreError` with `code`, `message`, `remedy` and `evidence`; `lapwing.errors` maps the codes to
//!   its tree. A panic never crosses: PyO3 turns it into `PanicException`.
//! - `python/lapwing/_core.pyi` says the same in types; a test compares the two.

mod access;
mod client;
mod core_error;
mod delivery;
mod dispatch;
mod entrance;
mod file_rights;
mod fleet;
mod hooks;
mod link;
mod link_settings;
mod node;
mod store;
mod strategy;
mod swarm;
mod topics;

use pyo3::prelude::*;

/// Many threads append to many small buffers; measured against the system's allocator this is worth its size.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The module's table of contents: one line per class.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("IS_DEV_BUILD", cfg!(debug_assertions))?;
    module.add("CoreError", module.py().get_type::<core_error::CoreError>())?;
    module.add_class::<node::Node>()?;
    module.add_class::<access::Authority>()?;
    module.add_class::<client::Client>()?;
    module.add_class::<link::Link>()?;
    module.add_class::<delivery::Delivery>()?;
    module.add_class::<swarm::Swarm>()?;
    module.add_class::<swarm::Sink>()?;
    module.add_class::<fleet::Fleet>()?;
    module.add_function(wrap_pyfunction!(dispatch::default_tables_json, module)?)?;
    module.add_function(wrap_pyfunction!(dispatch::dispatch_table_json, module)?)?;
    module.add_function(wrap_pyfunction!(entrance::unguarded_listeners, module)?)?;
    module.add_function(wrap_pyfunction!(entrance::exposures, module)?)?;
    module.add_function(wrap_pyfunction!(entrance::guards_of_mqtt, module)?)?;
    module.add_function(wrap_pyfunction!(entrance::users_notice, module)?)?;
    module.add_function(wrap_pyfunction!(entrance::memory_notices, module)?)?;
    module.add_function(wrap_pyfunction!(entrance::unseen_in_name, module)?)?;
    module.add_function(wrap_pyfunction!(file_rights::believed_files, module)?)?;
    module.add_function(wrap_pyfunction!(file_rights::made_files, module)?)?;
    module.add_function(wrap_pyfunction!(file_rights::look_at_files, module)?)?;
    module.add_function(wrap_pyfunction!(file_rights::strange_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(file_rights::kind_at, module)?)?;
    module.add_function(wrap_pyfunction!(file_rights::files_digest, module)?)?;
    module.add_function(wrap_pyfunction!(file_rights::is_private_group, module)?)?;
    module.add_function(wrap_pyfunction!(strategy::try_strategy, module)?)?;
    module.add_function(wrap_pyfunction!(access::hash_password, module)?)?;
    module.add_function(wrap_pyfunction!(access::certificate_times, module)?)?;
    module.add_function(wrap_pyfunction!(access::weak_rsa_key, module)?)?;
    module.add_function(wrap_pyfunction!(store::store_check, module)?)?;
    module.add_function(wrap_pyfunction!(store::store_dump, module)?)?;
    module.add_function(wrap_pyfunction!(store::store_repair, module)?)?;
    module.add_function(wrap_pyfunction!(store::store_backup, module)?)?;
    module.add_function(wrap_pyfunction!(store::store_restore, module)?)?;
    module.add_function(wrap_pyfunction!(store::data_files_fault, module)?)?;
    module.add_function(wrap_pyfunction!(store::data_folder_fault, module)?)?;
    module.add_function(wrap_pyfunction!(store::data_folder_holder, module)?)?;
    module.add_function(wrap_pyfunction!(store::made_partitions, module)?)?;
    module.add_function(wrap_pyfunction!(store::audit_trail_fault, module)?)?;
    module.add_function(wrap_pyfunction!(swarm::swarm_report_json, module)?)?;
    module.add_function(wrap_pyfunction!(node::give_back_start, module)?)?;
    module.add_function(wrap_pyfunction!(node::member::cluster_found, module)?)?;
    module.add_function(wrap_pyfunction!(node::member::cluster_join, module)?)?;
    module.add_function(wrap_pyfunction!(topics::topic_fault, module)?)?;
    module.add_function(wrap_pyfunction!(topics::filter_fault, module)?)?;
    module.add_function(wrap_pyfunction!(topics::filter_matches, module)?)?;
    module.add_function(wrap_pyfunction!(swarm::monotonic_ns, module)?)?;
    Ok(())
}
