//! Frames as they come and go: each there and back, the bytes of version 1, any bytes, and the books that are kept of them.

mod any_bytes;
mod batches;
mod faults;
mod formats;
mod hex;
mod judging;
mod oracle;
mod round_trip;
mod samples;
mod snapshots;

use lapwing_oracle::allocations::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
