//! The codec byte by byte: what is accepted, what is refused and why, and that both ways agree.

mod both_ways;
mod bytes;
mod cases;
mod fields;
mod first_bytes;
mod longer_forms;
mod malformed;
mod not_representable;
mod pool;
mod property_legality;
mod refused_connect;
mod round_trip;
mod table;
mod user_properties;
mod version_31;
