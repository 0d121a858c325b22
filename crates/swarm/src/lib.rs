//! A fleet of simulated clients.
pub mod clock;
pub mod latency;
pub mod random;
pub mod schedule;
pub mod serials;
pub mod stamp;
