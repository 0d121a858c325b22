//! What a gateway knows of one client of MQTT-SN, noun by noun: decisions only, in numbers and messages.
//!
//! Rules of this module:
//! - No I/O and no clock: time is `now_ms`, milliseconds of one monotonic clock of the process.
//! - Each table has a limit, and says no when it is reached. None is allocated before it is used.
//! - [`Client`] puts the nouns together; each is one file, and whole without the others.
//! - One message is in flight to a client; what else there is for it waits with whoever has it (6.10).

mod client;
mod connecting;
mod content;
mod context;
mod event;
mod in_flight;
mod incoming;
mod life;
mod outgoing;
mod predefined;
mod registrations;
mod repeats;
mod settings;
mod topic;
mod unknown_ids;
mod will_setup;

pub use client::{Client, Tick};
pub use context::Context;
pub use event::{Event, Receipt, SubscribeRequest};
pub use in_flight::{Answer, InFlight, Overdue};
pub use life::{Life, Phase};
pub use outgoing::{Delivery, Outgoing};
pub use predefined::{Predefined, PredefinedError};
pub use registrations::{Registration, Registrations};
pub use repeats::{Heard, Repeats};
pub use settings::Settings;
pub use topic::Topic;
pub use will_setup::{Prompt, WillChange, WillSetup};
