//! A state as bytes: a series of chunks, each of whole records, so that neither side holds all of it.
//!
//! ```text
//! chunk: version u8 = 2, its place in the series as number, records
//! record: kind u8, then
//!  1 head         applied, strays                                    the first record
//!  2 session      flags u8: bit 0 gone, bit 1 will, bit 2 will with expiry; id, client id as text, identity as bytes, expiry,
//!                 opened at, [gone at, in entry], [entry, delay, [expiry] of the will], last use number
//!  3 subscription filter as text, grant                              3 to 6 belong to the session or group before them
//!  4 references   their number; per reference: steps from the entry before it (the first: from 0) times two, plus one if
//!                 its options or its size differ from those before; [options; size of its frame in units of 64 bytes, 0: not known]
//!  5 flight       packet id, entry, 1 if the client has got it
//!  6 received     packet id, use number
//!  7 group        id, name and filter as texts
//!  8 retained     topic as text, entry
//!  9 origin       data group, session, first use that is not settled, the entry it was last named in, number of uses; per
//!                 use: use number, packet id, entry
//! 10 end          the number of chunks, this one too                 the last record
//! 11 declared     settings as bytes                                  of the group before it, in front of its references
//! 12 doubted      packet id, use number                              like 3 to 6
//! ```
//!
//! All numbers in their shortest form; sessions by client id, groups by name, topics, origins by the entry they were last named
//! in: one state has one snapshot. Version 1, which is read too, has no sizes.

mod origin_record;
mod reader;
mod session_record;
mod writer;

pub use reader::Restorer;

const VERSION: u8 = 2;
/// References have no sizes.
const VERSION_WITHOUT_SIZES: u8 = 1;

const HEAD: u8 = 1;
const SESSION: u8 = 2;
const SUBSCRIPTION: u8 = 3;
const REFERENCES: u8 = 4;
const FLIGHT: u8 = 5;
const RECEIVED: u8 = 6;
const GROUP: u8 = 7;
const RETAINED: u8 = 8;
const ORIGIN: u8 = 9;
const END: u8 = 10;
const DECLARED: u8 = 11;
const DOUBTED: u8 = 12;
