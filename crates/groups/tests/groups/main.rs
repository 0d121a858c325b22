//! The room as the node drives it: by any events, by every order of a few, and by what each rule is for.

mod any_events;
mod client;
mod coming_and_going;
mod compare;
mod deadlines;
mod expected;
mod interleavings;
mod keys;
mod later;
mod ledger;
mod logged;
mod queueing;
mod rig;
mod stalls;
mod told;
mod unable;
mod world;
