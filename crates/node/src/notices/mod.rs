//! What the operator should hear, as lines: from whoever in the node has something to say to whoever prints it.
//!
//! Rules:
//! - Each kind has a rate and a room of its own: nothing that clients cause takes the place of an alarm.
//! - What is left out is counted by kind, and said: how many more there were, in one line a minute at most.
//! - Nobody waits here, and nothing here grows without bound, whether somebody takes the lines or not.
//! - What ends the node is no notice: it is its failure, which is kept by itself (`shared.rs`).

mod board;
mod kind;
mod window;

pub(crate) use board::{Line, Notices};
pub(crate) use kind::NoticeKind;
pub(crate) use window::Window;
