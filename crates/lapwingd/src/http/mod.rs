//! `/metrics`, `/healthz` and `/readyz` over plain HTTP on loopback: for who watches this process, and no more.
//!
//! As over the package's HTTP: health is open, figures need the right `observe` where there are users or rules, a page that has
//! bent a name to this address is answered 421. One request a connection, a thread each; places and times are bounded.

mod answer;
mod caller;
mod request;
mod server;
mod settings;

pub(crate) use server::Server;
pub(crate) use settings::Settings;
