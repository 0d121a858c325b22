//! Why a message went nowhere although something asked for it; the session counts its own reasons beside these.

/// The named reasons of the node itself.
#[repr(usize)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReason {
    /// A group's filter matched, but its last member was just leaving; or a group that was on disk has nobody any more.
    GroupEmpty,
    /// QoS 0 copy for a stream while the disk was full.
    StreamDiskFull,
    /// A retained message beyond `retained_messages_max` or `retained_bytes_max`; it was still delivered live.
    RetainedFull,
    /// QoS 0 that a group had given a member whose connection was over when it came.
    SessionGone,
    /// `on_publish` has refused it.
    HookRefused,
    /// `on_publish` failed, and `on_failure` is "refuse".
    HookFailed,
    /// `on_publish` was late, and `on_failure` is "refuse".
    HookLate,
    /// Too many calls waited for hooks, and `on_failure` is "refuse".
    HookQueueFull,
    /// Its publisher may not send it.
    NotAuthorized,
    /// QoS 0 from a client while memory was above `memory_high_bytes`.
    MemoryHigh,
    /// To be kept for a client that does not take it, or as retained, while memory was above `memory_max_bytes`.
    MemoryFull,
    /// For a stream, never acknowledged, and not durable when the node stopped.
    StreamStopped,
    /// A dead letter of a group that has just lost its topic for them, or with more user properties than fit.
    NoDeadLetterTopic,
    /// A dead letter that its group would publish a second time.
    DeadLetterLoop,
    /// Its topic is longer or deeper than may be, or it has too many user properties; who can be told is told.
    BeyondLimit,
}

impl DropReason {
    pub(crate) const COUNT: usize = 15;
    /// Every reason with its label, in the order of the variants.
    pub(crate) const ALL: [(DropReason, &'static str); Self::COUNT] = [
        (DropReason::GroupEmpty, "group_empty"),
        (DropReason::StreamDiskFull, "stream_disk_full"),
        (DropReason::RetainedFull, "retained_full"),
        (DropReason::SessionGone, "session_gone"),
        (DropReason::HookRefused, "hook_refused"),
        (DropReason::HookFailed, "hook_failed"),
        (DropReason::HookLate, "hook_late"),
        (DropReason::HookQueueFull, "hook_queue_full"),
        (DropReason::NotAuthorized, "not_authorized"),
        (DropReason::MemoryHigh, "memory_high"),
        (DropReason::MemoryFull, "memory_full"),
        (DropReason::StreamStopped, "stream_stopped"),
        (DropReason::NoDeadLetterTopic, "no_dead_letter_topic"),
        (DropReason::DeadLetterLoop, "dead_letter_loop"),
        (DropReason::BeyondLimit, "beyond_limit"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each reason find its own counter and label?
    #[test]
    fn the_table_is_in_the_order_of_the_variants() {
        for (n, (reason, _)) in DropReason::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, n);
        }
    }
}
