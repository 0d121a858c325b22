//! Datagrams as they come and go: every message there and back, any bytes, and no memory for either.

mod any_bytes;
mod any_gateway;
mod anything;
mod client;
mod gateway;
mod joined;
mod link;
mod lossy;
mod no_allocation;
mod oracle;
mod pool;
mod round_trip;
mod served;
mod set_ups;
mod shortened;
mod strangers;
mod subscriptions;
mod told_ids;
mod translated;
mod translator;
mod translator_asleep;

use lapwing_oracle::allocations::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
