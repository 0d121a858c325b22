//! What limits may be, each by itself and some with each other.

use super::Limits;
use crate::error::NodeError;

/// A message may be longer on its way through the node than it came: its frame is of 5.0, has the topic that an alias stood for
/// (64 KiB), and each reader's copy its subscription identifiers. Below the largest packet of MQTT (256 MiB) there is room for that.
pub(in crate::config) const PACKET_BYTES_HIGHEST: u32 = 255 << 20;

/// As small and as large as the journal takes its segments.
const LOG_SEGMENT_BYTES: std::ops::RangeInclusive<u64> = 64 << 10..=1 << 30;

/// Linux takes no more: see tcp(7).
const KEEP_ALIVE_S_MAX: u16 = 32_767;
const KEEP_ALIVE_PROBES_MAX: u16 = 127;

/// More would only wait for cores.
const HANDSHAKE_THREADS_MAX: u32 = 64;

impl Limits {
    /// Checks what types cannot say.
    pub(in crate::config) fn check(&self) -> Result<(), NodeError> {
        let positive: [(&str, u64); 33] = [
            ("connections_max", u64::from(self.connections_max)),
            ("connect_timeout_ms", self.connect_timeout_ms),
            ("connect_bytes_max", u64::from(self.connect_bytes_max)),
            ("strangers_max", u64::from(self.strangers_max)),
            ("strangers_per_address_max", u64::from(self.strangers_per_address_max)),
            ("strangers_bytes_max", self.strangers_bytes_max),
            ("handshakes_max", u64::from(self.handshakes_max)),
            ("handshakes_per_address_max", u64::from(self.handshakes_per_address_max)),
            ("http_checks_max", u64::from(self.http_checks_max)),
            ("http_checks_per_address_max", u64::from(self.http_checks_per_address_max)),
            ("packet_bytes_max", u64::from(self.packet_bytes_max)),
            ("topic_bytes_max", u64::from(self.topic_bytes_max)),
            ("topic_levels_max", u64::from(self.topic_levels_max)),
            ("client_id_bytes_max", u64::from(self.client_id_bytes_max)),
            ("receive_maximum", u64::from(self.receive_maximum)),
            ("inflight_messages_max", u64::from(self.inflight_messages_max)),
            ("bridge_inflight_messages_max", u64::from(self.bridge_inflight_messages_max)),
            ("tcp_keep_alive_interval_s", u64::from(self.tcp_keep_alive_interval_s)),
            ("tcp_keep_alive_probes", u64::from(self.tcp_keep_alive_probes)),
            ("queue_memory_bytes", self.queue_memory_bytes),
            ("output_high_bytes", u64::from(self.output_high_bytes)),
            ("output_bytes_max", u64::from(self.output_bytes_max)),
            ("output_stall_ms", self.output_stall_ms),
            ("rate_burst_ms", self.rate_burst_ms),
            ("mailbox_batches", u64::from(self.mailbox_batches)),
            ("mailbox_batch_messages", u64::from(self.mailbox_batch_messages)),
            ("mailbox_batch_bytes", u64::from(self.mailbox_batch_bytes)),
            ("log_lane_bytes", self.log_lane_bytes),
            ("log_snapshot_bytes", self.log_snapshot_bytes),
            ("stall_after_ms", self.stall_after_ms),
            ("stuck_after_ms", self.stuck_after_ms),
            ("read_bytes_per_turn", u64::from(self.read_bytes_per_turn)),
            ("notices_per_minute", u64::from(self.notices_per_minute)),
        ];
        for (key, value) in positive {
            if value == 0 {
                let key = format!("limits.{key}");
                return Err(NodeError::config(&key, "is 0".to_owned(), "Set it to 1 or more."));
            }
        }
        if self.packet_bytes_max > PACKET_BYTES_HIGHEST {
            let what = format!("{} is more than {PACKET_BYTES_HIGHEST}", self.packet_bytes_max);
            return Err(NodeError::config("limits.packet_bytes_max", what, "Set it to 255 MiB or less."));
        }
        if self.handshake_threads > HANDSHAKE_THREADS_MAX {
            let what = format!("{} is more than {HANDSHAKE_THREADS_MAX}", self.handshake_threads);
            return Err(NodeError::config("limits.handshake_threads", what, "Set it to 64 or less; 0 chooses."));
        }
        // As the kernel takes them.
        for (key, value, most) in [
            ("tcp_keep_alive_s", self.tcp_keep_alive_s, KEEP_ALIVE_S_MAX),
            ("tcp_keep_alive_interval_s", self.tcp_keep_alive_interval_s, KEEP_ALIVE_S_MAX),
            ("tcp_keep_alive_probes", self.tcp_keep_alive_probes, KEEP_ALIVE_PROBES_MAX),
        ] {
            if value > most {
                let what = format!("{value} is more than {most}");
                return Err(NodeError::config(&format!("limits.{key}"), what, "Set it to that or less."));
            }
        }
        if !LOG_SEGMENT_BYTES.contains(&self.log_segment_bytes) {
            let what = format!("{} is not from 64 KiB to 1 GiB", self.log_segment_bytes);
            return Err(NodeError::config("limits.log_segment_bytes", what, "Set a size in this range."));
        }
        if self.output_high_bytes > self.output_bytes_max {
            let what =
                format!("{} is more than limits.output_bytes_max = {}", self.output_high_bytes, self.output_bytes_max);
            return Err(NodeError::config("limits.output_high_bytes", what, "Set it below output_bytes_max."));
        }
        if self.memory_max_bytes > 0 && self.memory_high_bytes > self.memory_max_bytes {
            let what =
                format!("{} is more than limits.memory_max_bytes = {}", self.memory_high_bytes, self.memory_max_bytes);
            return Err(NodeError::config("limits.memory_high_bytes", what, "Set it below memory_max_bytes."));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lapwing_codec::{PacketId, Publish, PublishProperties, QoS, SubscriptionId, SubscriptionIds, Version};

    use super::*;

    #[test]
    fn the_largest_message_is_a_packet_wherever_it_goes() {
        // Zeros that nobody reads: the system gives them no memory.
        let payload = vec![0; PACKET_BYTES_HIGHEST as usize];
        let topic = "t".repeat(usize::from(u16::MAX));
        let ids = vec![SubscriptionId::new(268_435_455).expect("the largest"); 100_000];
        let properties =
            PublishProperties { subscription_ids: SubscriptionIds::from_slice(&ids), ..PublishProperties::EMPTY };
        let copy = Publish {
            dup: false,
            qos: QoS::ExactlyOnce,
            retain: false,
            topic: &topic,
            packet_id: PacketId::new(1),
            properties,
            payload: &payload,
        };
        assert!(copy.encoded_len(Version::V5) < lapwing_codec::Limits::PACKET_BYTES_MAX as usize);
    }

    #[test]
    fn a_larger_one_is_refused_by_name() {
        let check = |packet_bytes_max| Limits { packet_bytes_max, ..Limits::default() }.check();
        assert!(check(PACKET_BYTES_HIGHEST).is_ok());
        let error = check(PACKET_BYTES_HIGHEST + 1).expect_err("too large").to_string();
        assert!(error.contains("limits.packet_bytes_max") && error.contains("more than 267386880"), "{error}");
    }
}
