//! One stream: its folder, what readers and the writer share of it, and how each uses it.

pub(crate) mod batch;
pub(crate) mod named_readers;
pub(crate) mod open;
pub(crate) mod retention;
pub(crate) mod scan;
pub(crate) mod sealed;
pub(crate) mod state;
pub(crate) mod walk;
pub(crate) mod writer;
