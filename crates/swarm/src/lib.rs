//! A fleet of simulated clients: load and measurement ([`Swarm`]), devices on a schedule ([`Fleet`]), and a server that
//! takes everything ([`Sink`]).
//!
//! Rules of this room:
//!
//! - Open loop: a schedule decides when a message is due, whatever the broker does. Latency counts from the due time, so a
//!   slow broker shows as latency, not as a lower rate. What the generator itself is late is a histogram of its own.
//!   Rate 0 is the closed loop, and the report says so.
//! - Serial numbers in the payload (`stamp`) and one bit per serial (`serials`) tell loss, repeats and
//!   order exactly. Nothing is sampled.
//! - A lane is one thread with its own poll and clients; lanes share only counters. Many lanes, or many processes, walk
//!   one schedule and make one report: [`Outcome`]s add up.
//! - Nothing allocates per message; every read is handled whole, every touched output is written once per turn.
//! - A fleet forgets nothing that it accepted: sent, acknowledged, refused, or counted as unsent or unacknowledged.
//! - Whatever the broker sends cannot panic and cannot make the books grow without bound.

mod board;
mod clock;
mod datagrams;
mod error;
mod files;
mod fleet;
mod lane;
mod latency;
mod link;
mod outcome;
mod plan;
mod profile;
mod random;
mod report;
mod run;
mod schedule;
mod serials;
mod sim_client;
mod sink;
mod stamp;
mod wait;

pub use board::Progress;
pub use clock::now_ns;
pub use error::SwarmError;
pub use fleet::{
    Action, Fleet, FleetClient, FleetConfig, FleetCounts, FleetReport, FleetSchedule, PAYLOAD_BYTES_MAX, Task,
};
pub use latency::{Latencies, Percentiles};
pub use outcome::Outcome;
pub use profile::{Pattern, Profile};
pub use report::{Cpu, Report, ScheduleKept, SleepKept};
pub use run::{EndWatch, Swarm, run};
pub use sink::{Sink, SinkConfig, SinkFigures};
