//! What a gateway knows of one client of MQTT-SN, noun by noun: decisions only, in numbers and messages.
//!
//! Rules of this module:
//! - No I/O and no clock: time is `now_ms`, milliseconds of one monotonic clock of the process.
//! - Each table has a limit, and says no when it is reached. None is allocated before it is used.
//! - One message is in flight to a client; what else there is for it waits with whoever has it (6.10).

mod in_flight;
mod life;
mod predefined;
mod registrations;
mod repeats;
mod settings;
mod will_setup;

pub use in_flight::{Answer, InFlight, Overdue};
pub use life::{Life, Phase};
pub use predefined::{Predefined, PredefinedError};
pub use registrations::{Registration, Registrations};
pub use repeats::{Heard, Repeats};
pub use settings::Settings;
pub use will_setup::{Prompt, WillChange, WillSetup};
