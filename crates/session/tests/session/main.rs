//! The session against the specification: what each test shows stands beside it as [MQTT-x.y.z-n] of version 5.0.

mod authentication;
mod bound;
mod bridges;
mod coming_back;
mod connecting;
mod crash;
mod farewell;
mod inbound;
mod kept;
mod lossy_link;
mod outbound;
mod paging;
mod paging_world;
mod queueing;
mod restoring;
mod rig;
mod sent_aliases;
mod subscribing;
mod time;
mod transitions;
mod views;
mod wills;
mod words;
