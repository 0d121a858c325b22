//! What one holder, a user or an address, may have of what there is: connections and sessions.

use lapwing_access::Identity;
use lapwing_codec::ReasonCode;
use serde_json::{Value, json};

use crate::audit::told;
use crate::holder::Holder;
use crate::identity_shares::{Beyond, HeldPlace};
use crate::notices::NoticeKind;
use crate::passwords::Source;
use crate::shard::Shard;

impl Shard {
    /// Counts a connection to its holder, which may have so many. One that takes over another has its place in any case: that
    /// one goes.
    pub(in crate::shard) fn take_connection_place(
        &mut self,
        index: usize,
        identity: &Identity,
        client_id: &str,
    ) -> Result<(), ReasonCode> {
        let takes_over = self
            .clients
            .find(client_id)
            .and_then(|key| self.clients.row(key))
            .is_some_and(|e| e.connection().is_some());
        let Some(connection) = self.clients.connection(index) else { return Ok(()) };
        let source = Source::of(connection.socket.peer());
        let (share, holder) = (&self.shared.shares.connections, Holder::from(identity.name(), source));
        // It may come a second time, when what it had to wait for is done.
        connection.place = None;
        let place = if takes_over {
            Ok(HeldPlace::take_anyway(share, holder))
        } else {
            HeldPlace::take(share, holder, self.shared.connections_free())
        };
        match place {
            Ok(place) => {
                connection.place = Some(place);
                Ok(())
            }
            Err(beyond) => {
                self.refused_connection(identity.name(), source, beyond);
                Err(ReasonCode::QuotaExceeded)
            }
        }
    }

    fn refused_connection(&self, name: Option<&str>, source: Source, beyond: Beyond) {
        self.counters.limits.refused_share_connections.add(1);
        if let (Beyond::Free(held), true) = (beyond, self.shared.shares.connections.may_tell(self.now_ms)) {
            let (most, times) = (self.shared.connections_max(), self.shared.config.limits.held_times_free_max);
            let text = format!(
                "{} has {held} of all connections ({most}), more than {times} times what is free (limits.held_times_free_max): \
                 one more was refused; raise limits.connections_max if all of them are to be its",
                name.map_or_else(|| source.to_string(), told)
            );
            let mut facts = share_facts("connections", name);
            facts["address"] = source.to_string().into();
            self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || (text, facts));
        }
    }

    /// Takes one session more of the share of its identity; false where it has all of it. One in the place of its own has room
    /// in any case: that one gives back what it had as it is taken out of the table.
    pub(in crate::shard) fn take_session_share(&self, identity: &Identity, is_its_own: bool) -> bool {
        let (share, holder) = (&self.shared.shares.sessions, Holder::of(identity));
        if is_its_own {
            share.take_anyway(holder);
            return true;
        }
        if share.take(holder, u64::MAX).is_ok() {
            return true;
        }
        self.counters.limits.refused_share_sessions.add(1);
        if share.may_tell(self.now_ms) {
            let who = identity.name().map_or_else(|| "anonymous".to_owned(), told);
            let most = self.shared.config.limits.sessions_per_identity_max;
            let text = format!("{who} has {most} sessions (limits.sessions_per_identity_max): one more was refused");
            let facts = share_facts("sessions", identity.name());
            self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || (text, facts));
        }
        false
    }

    /// A retained message is not kept, because its publisher has its share; the name where that is known here.
    pub(in crate::shard) fn refused_beyond_share(&self, name: Option<&str>) {
        self.counters.limits.refused_share_retained.add(1);
        let share = &self.shared.shares.retained;
        if share.may_tell(self.now_ms) {
            let (messages, bytes) = share.bounds();
            let limits = &self.shared.config.limits;
            let who = name.map_or_else(|| "a client".to_owned(), told);
            let text = format!(
                "{who} has its share of retained messages (limits.retained_messages_per_identity_max = {messages}, \
                 limits.retained_bytes_per_identity_max = {bytes}; limits.held_times_free_max = {}: so many times what is free \
                 of retained_messages_max = {} and retained_bytes_max = {}): one more was not kept",
                limits.held_times_free_max, limits.retained_messages_max, limits.retained_bytes_max
            );
            let facts = share_facts("retained_messages", name);
            self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || (text, facts));
        }
    }
}

/// Who was refused one more of something, for programs; `username`: none for whoever has no name.
pub(in crate::shard) fn share_facts(what: &str, username: Option<&str>) -> Value {
    let reason = ReasonCode::QuotaExceeded;
    json!({
        "event": "share_refused", "share": what, "username": username.map(told), "reason": reason.name(),
        "reason_code": reason.value(),
    })
}
