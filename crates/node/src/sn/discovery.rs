//! Who is there (6.1): said to whoever asks, and where configured to everybody, from time to time.

use lapwing_sn::{Advertise, GwInfo, Message};

use super::address::Address;
use super::thread::SnThread;

impl SnThread {
    /// GWINFO: as long as the question.
    pub(super) fn answer_search(&mut self, door: usize, address: &Address<'_>) {
        let terms = &self.doors[door];
        let info = Message::GwInfo(GwInfo { gateway_id: terms.config.gateway_id, address: None });
        if info.encode(&terms.settings(address).limits, &mut self.out).is_ok() {
            self.send(address);
        }
    }

    /// ADVERTISE, at each listener that is to say so and whose time has come.
    pub(super) fn advertise(&mut self) {
        if !self.is_listening || self.has_left {
            return;
        }
        for door in 0..self.doors.len() {
            let config = &self.doors[door].config;
            let (Some(to), Some(at_ms)) = (config.advertise_to, self.advertise_at_ms[door]) else { continue };
            if self.now_ms < at_ms {
                continue;
            }
            let duration_s = config.advertise_interval_s;
            self.advertise_at_ms[door] = Some(at_ms.max(self.now_ms) + u64::from(duration_s) * 1000);
            let message = Message::Advertise(Advertise { gateway_id: config.gateway_id, duration_s });
            let is_said = message.encode(self.doors[door].limits(), &mut self.out).is_ok();
            let socket = self.door_of.iter().position(|of| *of == door);
            if let Some(socket) = socket.filter(|_| is_said) {
                self.send(&Address::new(socket, to, None));
            }
        }
    }

    /// When the next is due.
    pub(super) fn next_advertise_ms(&self) -> Option<u64> {
        self.advertise_at_ms.iter().flatten().min().copied().filter(|_| self.is_listening && !self.has_left)
    }
}
