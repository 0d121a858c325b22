//! Takeover: a client connects whose session is there already, perhaps with a connection of its own.

use lapwing_access::Identity;
use lapwing_codec::ReasonCode;
use lapwing_session::SessionKey;

use crate::holder::Holder;
use crate::shard::Shard;
use crate::shard::connections::session_row::SessionRow;

impl Shard {
    /// The session that the client has already, taken out of the table and off its former connection.
    ///
    /// One that another identity has begun, and that is not kept from others, ends here: it is not theirs to read.
    pub(super) fn take_existing(&mut self, client_id: &str, identity: &Identity) -> Option<SessionRow> {
        let key = self.clients.find(client_id)?;
        if let Some(former) = self.clients.row(key)?.connection() {
            self.take_over(former, key);
            // A session that was to end with its connection has ended.
            self.clients.row(key)?;
        }
        self.left_offline();
        let row = self.clients.remove_session(key)?;
        self.shared.shares.sessions.give_back(Holder::of(&row.standing.identity));
        if row.standing.identity == *identity {
            return Some(row);
        }
        self.end_row(row);
        None
    }

    /// Ends the connection of a session that another connection takes over; the session stays, if it may.
    pub(in crate::shard) fn take_over(&mut self, index: usize, key: SessionKey) {
        let what = "another connection has the same client id";
        self.clients.with(key, |session, io| session.dismiss(ReasonCode::SessionTakenOver, what, io));
        self.counters.closed(ReasonCode::SessionTakenOver);
        self.part_session(index, Some(ReasonCode::SessionTakenOver), true);
        self.finish_connection(index);
    }
}
