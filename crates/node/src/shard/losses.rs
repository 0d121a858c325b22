//! Sessions that lose what was acknowledged: told once for each time that their client is away or behind.

use lapwing_session::DropReason;

use super::Shard;
use crate::notices::NoticeKind;

impl Shard {
    /// Tells the operator of sessions that have begun to lose messages in this turn.
    pub(super) fn tell_losses(&mut self) {
        for (key, reason) in std::mem::take(&mut self.clients.losing) {
            self.counters.limits.sessions_losing.add(1);
            let Some(entry) = self.clients.entry(key) else { continue };
            let session = &entry.session;
            let state = if entry.connection.is_some() { "behind" } else { "away" };
            let line = format!(
                "client {} is {state} and begins to lose messages that were acknowledged to their publishers: {} ({} \
                 messages, {} bytes wait); see lapwing sessions",
                session.client_id(),
                why(reason),
                session.queued_messages(),
                session.queued_bytes(),
            );
            self.shared.tell(NoticeKind::Lost, line);
        }
    }
}

/// What bounds it, and where that is set.
const fn why(reason: DropReason) -> &'static str {
    match reason {
        DropReason::QueueFull => "no room for more (limits.queue_bytes_max, queue_messages_max, memory_max_bytes)",
        DropReason::QueueAge => "they waited too long (limits.queue_age_max)",
        DropReason::PacketTooLarge => "they are larger than it takes (its Maximum Packet Size)",
        DropReason::Damaged => "they were damaged on disk",
        _ => "they cannot be sent to it",
    }
}
