//! Batches: what an owner has handed over for one data group in one turn, on its way to the followers.
//!
//! A batch is a run of records ([`Record`]), encoded once. It goes in parts, each in a frame of its own, and the [`Raft`]
//! frame whose entries name it comes behind them. Whoever has begun a batch ends it and has it named, even when it leads no
//! longer: so what is held on the other side always comes to an end.
//!
//! [`Raft`]: crate::Raft

mod intake;
mod part;
mod record;
mod run;
mod whole;
mod window;

pub use intake::BatchIntake;
pub use part::BatchPart;
pub(crate) use record::RECORD_HEAD_BYTES;
pub use record::Record;
pub(crate) use run::write_run;
pub use run::{read_records, write_records};
pub use whole::Batch;
pub use window::Window;
