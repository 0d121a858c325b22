//! Data folders looked at from outside: what is said of every kind of damage, what can be given up, and copies that are made
//! while somebody writes.

mod common;
mod copy;
mod cut;
mod gone;
mod mend;
mod raft;
mod regions;
