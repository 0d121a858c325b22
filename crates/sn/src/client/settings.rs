//! Timers and limits of a client, in the terms of a gateway's.

use crate::Limits;
use crate::peer::Settings;

/// Topics whose ids one connection may have.
const TOPICS_MAX: u16 = 16_384;

/// T_retry is shorter than the specification's 10 s, which are those of a radio that sleeps: two seconds, five times more,
/// so that a gateway is lost after twelve. Datagrams that come may be as large as UDP allows.
pub fn settings() -> Settings {
    let limits = Limits { datagram_bytes_max: Limits::default().datagram_bytes_max, ..Limits::PROTOCOL };
    Settings { limits, retry_ms: 2_000, retries_max: 5, registrations_max: TOPICS_MAX, ..Settings::default() }
}
