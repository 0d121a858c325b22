//! The `authority` room: who signs the certificates of a cluster's nodes, and what such a certificate says.
//!
//! Rules of this room:
//! - No I/O and no clock: files are their reader's, times are given in. Keys and serial numbers are drawn from the system's
//!   random numbers, by `ring`; nothing else here comes from outside.
//! - A private key never travels. A node makes its own ([`NodeKey`]) and sends a request (PKCS #10) that shows that it has it;
//!   of a request the key counts and nothing else: whoever is asked says which node it is for.
//! - A certificate names its cluster and its node by one URI, `lapwing://CLUSTER/node/NODE` ([`NodeName`]), and the authority
//!   its cluster by `lapwing://CLUSTER`. There is one spelling of each, and both are for ever.
//! - [`NodeName::of`] reads and does not judge: that a certificate is good was seen by the handshake that it came in.
//!   Any bytes give a name or a [`Fault`], never a panic.
//! - Keys are ECDSA on P-256, signatures with SHA-256: what every library of TLS verifies.
//! - An authority lasts [`AUTHORITY_DAYS`], a node's certificate [`NODE_DAYS`] and never longer than its authority. Both are good
//!   from [`BACKDATED_S`] before they were made: clocks of two machines differ.

#![forbid(unsafe_code)]

mod authority;
mod fault;
mod name;
mod node_key;
mod request;
mod validity;

pub use authority::{Authority, fingerprint};
pub use fault::Fault;
pub use name::{NODES_MAX, NodeName};
pub use node_key::NodeKey;
pub use request::REQUEST_BYTES_MAX;
pub use validity::{AUTHORITY_DAYS, BACKDATED_S, NODE_DAYS};
