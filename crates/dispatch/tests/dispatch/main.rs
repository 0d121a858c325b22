//! The room as its owner drives it: whole days on a simulated clock, and any calls at all.

mod world;
