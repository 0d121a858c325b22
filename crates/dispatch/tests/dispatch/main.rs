//! The room as its owner drives it: whole days on a simulated clock, and any calls at all.

mod calls;
mod days;
mod deferred;
mod estimates;
mod groups;
mod refusals;
mod strategies;
