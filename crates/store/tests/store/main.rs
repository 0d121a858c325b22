//! The log against its promises: on a real file system, and on one that loses what was not synced.

mod common;
mod crash;
mod damage;
mod faults;
mod format;
mod log;
mod model;
mod retention;
mod rolls;
mod sim;
mod threads;
