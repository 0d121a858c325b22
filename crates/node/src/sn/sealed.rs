//! The thread's side of DTLS: what comes out of its connections, and what goes into them by itself.

use std::net::SocketAddr;

use super::output::send_datagram;
use super::thread::SnThread;

impl SnThread {
    /// A datagram of somebody who has a connection of DTLS, or begins one.
    pub(super) fn take_sealed(&mut self, socket: usize, from: SocketAddr, bytes: &[u8]) {
        self.counters.datagrams_in.add(1);
        let mut opened = std::mem::take(&mut self.opened);
        if self.tunnels.take(socket, from, bytes, self.now_ms, &self.counters, &mut opened) {
            for packet in opened.packets.iter() {
                send_datagram(&self.sockets, socket, from, packet, &self.counters);
            }
            // What was said before a goodbye counts.
            for message in opened.messages.iter() {
                self.take_datagram(socket, from, message);
            }
        }
        self.opened = opened;
        self.see_off();
    }

    /// Time has passed for the connections.
    pub(super) fn tick_tunnels(&mut self) {
        let mut opened = std::mem::take(&mut self.opened);
        while let Some((socket, peer)) = self.tunnels.tick(self.now_ms, &self.counters, &mut opened) {
            for packet in opened.packets.iter() {
                send_datagram(&self.sockets, socket, peer, packet, &self.counters);
            }
        }
        self.opened = opened;
        self.see_off();
    }

    /// Nothing comes or goes any more, and whoever is there is told. Who is connected is not lost by that: see `spawn_sn`.
    pub(super) fn close_tunnels(&mut self) {
        self.tunnels.close_all(&self.counters);
        self.say_farewells();
    }

    fn say_farewells(&mut self) {
        for ((socket, peer), packet) in std::mem::take(&mut self.tunnels.farewells) {
            send_datagram(&self.sockets, socket, peer, &packet, &self.counters);
        }
    }

    /// Connections that are over: their peers hear of it, and whoever was connected in them is lost.
    fn see_off(&mut self) {
        self.say_farewells();
        for (index, born) in std::mem::take(&mut self.tunnels.bereft) {
            if self.table.get_born(index, born).is_some() {
                self.counters.lost.add(1);
                self.remove(index);
            }
        }
    }
}
