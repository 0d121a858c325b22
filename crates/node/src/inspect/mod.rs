//! A data folder from outside: check, dump, repair and backup, for people and scripts.
//!
//! The store knows which bytes are whole, the ledger what they mean; here both are joined. Each job tells what it finds as
//! JSON objects, one at a time, to somebody who may break it off. Nothing is changed but by [`repair`] and [`backup`].

mod backup;
mod check;
mod dangling;
mod draft;
mod dump;
mod error;
mod rehearsal;
mod repair;
mod words;

use std::ops::ControlFlow;

use serde_json::Value;

pub use lapwing_store::inspect::made_partitions;

pub use backup::{backup, restore};
pub use check::check;
pub use dump::{DumpWanted, dump};
pub use error::InspectError;
pub use rehearsal::{files_fault, folder_fault, folder_holder, trail_fault};
pub use repair::{RepairWanted, repair};

/// Who is told: one object at a time.
pub type Tell<'t> = &'t mut dyn FnMut(Value) -> ControlFlow<()>;
