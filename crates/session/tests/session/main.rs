//! The session against the specification: what each test shows stands beside it as [MQTT-x.y.z-n] of version 5.0.

mod connecting;
mod inbound;
mod lossy_link;
mod outbound;
mod queueing;
mod rig;
mod subscribing;
mod time;
mod transitions;
mod wills;
