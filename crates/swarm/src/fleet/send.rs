//! How a fleet's lane publishes what has come due, as far as window and socket allow.

use super::device::{Device, Outgoing, Stage};
use super::lane::Lane;
use crate::clock::now_ns;
use lapwing_client::SendError;
use lapwing_codec::{Publish, PublishProperties, QoS, UserPropertiesBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes that may wait for a full socket before a device's messages wait in its queue.
const BACKLOG_BYTES_MAX: usize = 64 << 10;

impl Lane {
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
            self.done = (self.done.0 + 1, self.done.1 + bytes);
        }
        self.after_send(index, outgoing, sent);
    }

    fn after_send(&mut self, index: usize, outgoing: &Outgoing, sent: Result<(), SendError>) {
        match sent {
            Ok(()) => {
                self.report.counts.sent += 1;
                self.report.late.record(now_ns().saturating_sub(outgoing.due_ns));
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
