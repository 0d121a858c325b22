//! Who loses what was acknowledged, told once each time that it begins: a session when its client is away or behind, a group or
//! a hold when it has no room for more.

use lapwing_groups::DropReason as GroupDrop;
use lapwing_session::DropReason;

use crate::notices::NoticeKind;
use crate::shard::Shard;

/// Whether a group or hold is losing messages: from the first one until half of its room is free.
#[derive(Default)]
pub(in crate::shard) struct LossWatch {
    /// So many were lost when it was looked at last.
    lost: u64,
    is_losing: bool,
}

impl LossWatch {
    /// `lost`: how many there were so far. True where it begins with the last of them.
    pub(in crate::shard) fn begins(&mut self, lost: u64, is_half_empty: bool) -> bool {
        let has_lost = std::mem::replace(&mut self.lost, lost) != lost;
        let begins = has_lost && !self.is_losing;
        self.is_losing = has_lost || (self.is_losing && !is_half_empty);
        begins
    }
}

impl Shard {
    /// Tells the operator of a group that has begun to lose messages.
    pub(in crate::shard) fn tell_group_loss(&mut self, place: usize) {
        let Some(owned) = self.groups.table.get(place) else { return };
        let lost = owned.group.counters().dropped(GroupDrop::QueueFull);
        let (messages, bytes, settings) = (owned.group.queued(), owned.group.queued_bytes(), owned.group.settings());
        let is_half_empty = messages <= settings.queue_messages_max / 2 && bytes <= settings.queue_bytes_max / 2;
        if !owned.losses.begins(lost, is_half_empty) {
            return;
        }
        let line = format!(
            "group {} of {} begins to lose messages that were acknowledged to their publishers: no room for more \
             (queue_bytes_max, queue_messages_max of its table; {messages} messages, {bytes} bytes wait); see lapwing groups",
            owned.name, owned.filter,
        );
        self.counters.limits.groups_losing.add(1);
        self.shared.tell(NoticeKind::Lost, line);
    }

    /// Tells the operator of a hold that has begun to lose messages.
    pub(in crate::shard) fn tell_hold_loss(&mut self, hold: &str, (messages, bytes): (u64, u64)) {
        let line = format!(
            "hold {hold} begins to lose messages that were acknowledged to their publishers: no room for more (bytes, \
             messages of its table, or limits.memory_max_bytes; {messages} messages, {bytes} bytes wait); metrics of holds \
             count them by reason"
        );
        self.counters.limits.holds_losing.add(1);
        self.shared.tell(NoticeKind::Lost, line);
    }

    /// Tells the operator of sessions that have begun to lose messages in this turn.
    pub(in crate::shard) fn tell_losses(&mut self) {
        for (key, reason) in std::mem::take(&mut self.clients.losing) {
            self.counters.limits.sessions_losing.add(1);
            let Some(row) = self.clients.row(key) else { continue };
            let session = &row.session;
            let state = if row.connection().is_some() { "behind" } else { "away" };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Is the first loss told, none of those after it, and the first again once half of the room was free?
    #[test]
    fn a_loss_begins_once() {
        let mut watch = LossWatch::default();
        assert!(!watch.begins(0, true));
        assert!(watch.begins(1, false));
        assert!(!watch.begins(2, false) && !watch.begins(2, false) && !watch.begins(3, true));
        assert!(!watch.begins(3, true));
        assert!(watch.begins(4, true));
        assert!(!watch.begins(5, true), "one that is too large for it, and another");
    }
}
