//! What was granted a client for a time: its connection ends with it. The session stays, as with any lost connection: its client
//! comes back with a new token.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lapwing_codec::ReasonCode;

use crate::shard::Shard;
use crate::shard::connections::connection::Stage;

impl Shard {
    /// When the token of a client that has a session is over; `None`: it has none, or never.
    pub(in crate::shard) fn grant_end(&mut self, index: usize) -> Option<SystemTime> {
        let Stage::Open { session, .. } = self.clients.connection(index)?.stage else { return None };
        let end_s = self.clients.row(session)?.standing.identity.grant()?.expires_at_s?;
        UNIX_EPOCH.checked_add(Duration::from_secs(end_s))
    }

    /// Ends the connection if its client's token is over; whether it did.
    pub(in crate::shard) fn end_expired(&mut self, index: usize) -> bool {
        let is_over = self.grant_end(index).is_some_and(|end| end <= SystemTime::now());
        if is_over {
            self.counters.access.expired();
            self.dismiss(index, ReasonCode::NotAuthorized, "the token has expired");
        }
        is_over
    }
}
