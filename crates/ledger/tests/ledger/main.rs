//! The ledger from outside: formats, random histories against a naive state, snapshots, any bytes.

mod any_bytes;
mod formats;
mod histories;
mod liveness;
mod model;
mod one_offs;
mod operation;
mod oracle;
mod picture;
mod random;
mod rules;
mod snapshot_format;
mod snapshots;
