//! What must hold for any bytes at all, written once for the fuzzers and for the tests on a stable compiler.
//!
//! Rules of this room:
//! - Nothing of the broker depends on it; `fuzz/` and the tests of the rooms do.
//! - An oracle takes bytes and panics when what it watches does something that no input may make it do. It never panics
//!   for another reason: every input is a valid test.
//! - An oracle is independent: it knows the specification, not the code. [`connection`] keeps a client's own books.
//! - The same bytes give the same run: no clock, no randomness but the input's.
//!
//! [`packet`] watches the codec, one packet or a stream of them. [`wire`] makes packets of all types that are legal or
//! nearly so. [`first_bytes`] watches how a stranger is judged, byte by byte. [`connection`] watches a session through several connections. [`allocations`] counts memory for all of them,
//! when the program has installed [`allocations::Counting`]. [`variants`] makes more inputs of the kept ones where no
//! fuzzer is at hand.

pub mod allocations;
pub mod connection;
pub mod first_bytes;
pub mod packet;
pub mod variants;
pub mod wire;
