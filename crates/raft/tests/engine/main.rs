//! The engine from outside: whole groups in memory, with networks that lose and disks that lag; and any message at all.

mod any_message;
mod calls;
mod elections;
mod lagging;
mod lost;
mod membership;
mod mutants;
mod random;
mod reads;
mod runs;
mod snapshots;
mod trio;
mod waiting;
mod world;
