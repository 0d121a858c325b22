//! A session as an operator sees it.

use lapwing_session::SessionKey;

use super::Shard;
use crate::session_reports::{QueuedReport, SessionDetail, SessionReport, SubscriptionReport};
use crate::slot::Slot;

/// Subscriptions shown of one session.
const SUBSCRIPTIONS_SHOWN_MAX: usize = 1000;

impl Shard {
    /// One row of a list; `None` when there is no such session any more.
    pub(super) fn session_report(&mut self, key: SessionKey) -> Option<SessionReport> {
        let (now_ms, clock, shard) = (self.now_ms, self.shared.clock, self.id.index());
        let connection = self.clients.row(key)?.connection();
        let shown = connection.and_then(|index| self.clients.connection(index));
        let of_connection = shown.map(|connection| {
            let address = connection.socket.peer().to_string();
            (address, connection.listener, connection.open_since_ms, connection.bytes_in, connection.bytes_out)
        });
        let (address, listener, since_ms, bytes_in, bytes_out) = match of_connection {
            Some((address, listener, since_ms, bytes_in, bytes_out)) => {
                (Some(address), Some(listener), Some(since_ms), Some(bytes_in), Some(bytes_out))
            }
            None => (None, None, None, None, None),
        };
        let listener = listener.map(|listener| self.shared.listener(listener).url.clone());
        let row = self.clients.row(key)?;
        let session = &row.session;
        let is_connected = connection.is_some();
        Some(SessionReport {
            client_id: session.client_id().to_owned(),
            user: row.standing.identity.name().map(str::to_owned),
            is_connected,
            address,
            listener,
            connected_since_ms: since_ms.map(|at_ms| clock.on_the_wall(at_ms)),
            bytes_in,
            bytes_out,
            version: session.version().map(|version| version.name()),
            away_since_ms: row.away.as_ref().filter(|_| !is_connected).map(|away| clock.on_the_wall(away.since_ms)),
            expiry_s: Some(session.expiry_s()).filter(|expiry_s| *expiry_s != u32::MAX),
            ends_in_s: session.ends_at_ms().map(|at_ms| at_ms.saturating_sub(now_ms).div_ceil(1000)),
            subscriptions: session.subscriptions().len(),
            waiting_messages: session.queued_messages(),
            waiting_bytes: session.queued_bytes(),
            inflight_out: session.inflight_messages(),
            inflight_in: session.received_messages(),
            lost_messages: session.losses().messages,
            lost_acknowledged: session.losses().acknowledged,
            is_durable: row.kept_as.kept.is_some(),
            shard,
        })
    }

    /// One session with what it subscribes to and the first `queued_max` messages of its queue.
    pub(super) fn show_session(&mut self, client_id: &str, queued_max: usize) -> Option<SessionDetail> {
        let key = self.clients.find(client_id)?;
        let report = self.session_report(key)?;
        let now_ms = self.now_ms;
        let session = &self.clients.row(key)?.session;
        let subscriptions = session.subscriptions().take(SUBSCRIPTIONS_SHOWN_MAX);
        Some(SessionDetail {
            session: report,
            subscribed: subscriptions.map(|(filter, grant)| SubscriptionReport::new(filter, grant)).collect(),
            queue: session.queued().take(queued_max).map(|queued| QueuedReport::new(&queued, now_ms)).collect(),
            data_group: Slot::of(client_id.as_bytes()).data_group(),
        })
    }
}
