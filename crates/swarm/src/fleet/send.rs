//! How a fleet's lane takes up what has come due, and publishes it as far as window and socket allow.

use super::device::{Device, Outgoing, Stage};
use super::lane::Lane;
use crate::clock::{MILLISECOND_NS, now_ns};
use lapwing_client::SendError;
use lapwing_codec::{Publish, PublishProperties, QoS, UserPropertiesBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes that may wait for a full socket before a device's messages wait in its queue.
const BACKLOG_BYTES_MAX: usize = 64 << 10;

impl Lane {
    /// A message's time has come: from now on it is the broker's whether it goes, and for how long it is open.
    pub(super) fn take_up(&mut self, index: usize, outgoing: Outgoing) {
        let bytes = outgoing.payload.len();
        self.open.enter(bytes);
        self.turn.taken_up += 1;
        self.turn.taken_up_bytes += bytes;
        self.report.counts.taken_up += 1;
        self.judge(outgoing.due_ns);
        self.devices[index].pending.push_back(outgoing);
        self.send_pending(index);
    }

    fn judge(&mut self, due_ns: u64) {
        let judged_from_ns = self.start_ns().saturating_add(self.config.judged_from_us.saturating_mul(1000));
        if due_ns >= judged_from_ns {
            let late_ns_max = (self.config.late_ms * MILLISECOND_NS as f64) as u64;
            let held = due_ns <= self.full_ns;
            self.report.kept.record(now_ns().saturating_sub(due_ns), late_ns_max, held);
        }
    }

    /// A message is answered, refused, or at QoS 0 sent.
    pub(super) fn finish(&mut self, bytes: usize) {
        if self.waits_for_room() {
            self.full_ns = now_ns();
        }
        self.open.leave(bytes);
        self.turn.over += 1;
    }

    /// Sends what is due for a device, as far as window and socket allow.
    pub(super) fn send_pending(&mut self, index: usize) {
        while let Some(outgoing) = self.devices[index].pending.pop_front() {
            if !self.can_send(index, outgoing.qos) {
                self.devices[index].pending.push_front(outgoing);
                break;
            }
            self.send(index, &outgoing);
        }
        self.leave_if_done(index);
    }

    fn can_send(&self, index: usize, qos: QoS) -> bool {
        let device = &self.devices[index];
        let Some(link) = &device.link else { return false };
        let room = qos == QoS::AtMostOnce || device.protocol.room() > 0;
        device.stage == Stage::Online && link.backlog() < BACKLOG_BYTES_MAX && room
    }

    fn send(&mut self, index: usize, outgoing: &Outgoing) {
        let mut user = UserPropertiesBuf::new();
        if self.config.stamp_sent_at && self.config.version().has_properties() {
            // Nineteen digits always fit into a property.
            let _ = user.push("lapwing-sent-at-us", &epoch_us().to_string());
        }
        let Device { link: Some(link), protocol, topic, .. } = &mut self.devices[index] else { return };
        let bytes = outgoing.payload.len();
        let token = self.tickets.take(outgoing.due_ns, bytes);
        let publish = Publish {
            dup: false,
            qos: outgoing.qos,
            retain: outgoing.retain,
            topic,
            packet_id: None,
            properties: PublishProperties { user: user.as_ref(), ..Default::default() },
            payload: &outgoing.payload,
        };
        let sent = protocol.publish(publish, token, &mut link.output);
        if outgoing.qos == QoS::AtMostOnce || sent.is_err() {
            self.tickets.give_back(token);
            self.finish(bytes);
        }
        self.after_send(index, sent);
    }

    fn after_send(&mut self, index: usize, sent: Result<(), SendError>) {
        match sent {
            Ok(()) => {
                self.report.counts.sent += 1;
                self.touch(index);
            }
            // `can_send` was asked; what is left is what the broker does not take or MQTT cannot say.
            Err(error) => {
                self.report.counts.rejected += 1;
                self.count_error(format!("cannot publish: {error}"));
            }
        }
    }
}

fn epoch_us() -> u128 {
    // A clock before 1970 is 1970.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros())
}
