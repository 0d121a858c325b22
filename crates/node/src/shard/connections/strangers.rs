//! Connections before they are clients: what their first bytes may be, and what the table of strangers is told of them.

use std::sync::Arc;

use lapwing_codec::{FirstBytes, Limits, first_bytes};
use lapwing_transport::{PeerAddress, Socket};

use crate::listeners::ListenerId;
use crate::shard::Shard;
use crate::shard::connect::spoken;
use crate::shard::connections::connection::Pause;
use crate::strangers::{Place, Source, Stranger};

impl Shard {
    /// A place among strangers for a connection that has just come; none when there is none for it.
    pub(in crate::shard) fn take_stranger(
        &mut self,
        listener: ListenerId,
        socket: &Socket,
        peer: PeerAddress,
    ) -> Option<Box<Stranger>> {
        let mut stranger = self.shared.strangers.accepted(listener, socket, peer, self.now_ms)?;
        stranger.input_bytes_max = self.connect_bytes_max(listener);
        Some(Box::new(stranger))
    }

    /// Bytes of the largest CONNECT that a listener takes.
    pub(in crate::shard) fn connect_bytes_max(&self, listener: ListenerId) -> usize {
        self.connections.settings[usize::from(listener.0)].connect_limits.packet_bytes_max as usize
    }

    /// A stranger is in the table of connections: where it is, if it must go.
    pub(in crate::shard) fn settle_stranger(&mut self, index: usize) {
        let shard = self.id.index();
        let Some(connection) = self.clients.connection(index) else { return };
        let place = Place { shard, index, born: connection.born };
        if let Some(stranger) = &mut connection.stranger {
            stranger.settle(place);
        }
    }

    /// Tells the table what a stranger holds after a read, and where it comes from once that is known.
    pub(in crate::shard) fn note_stranger(&mut self, index: usize) {
        let now_ms = self.now_ms;
        let kept_bytes = self.exchange(index).map_or(0, |exchange| exchange.connect.capacity());
        let Some(connection) = self.clients.connection(index) else { return };
        let Some(stranger) = &mut connection.stranger else { return };
        if stranger.awaits_name && !connection.socket.awaits_header() {
            stranger.name(Source::of(connection.socket.peer()), now_ms);
        }
        let buffers = connection.input.capacity() + connection.output.capacity();
        let bytes = buffers + connection.socket.held_bytes() + kept_bytes;
        stranger.hold(bytes as u64, connection.paused == Some(Pause::Gate), now_ms);
    }

    /// Ends those that the table has found to be too many. Nothing can be said to them: they have named no version.
    pub(in crate::shard) fn end_strangers(&mut self) {
        for Place { index, born, .. } in self.shared.strangers.take_ended(self.id.index()) {
            let connection = self.clients.connection(index);
            // Who has become a client meanwhile stays.
            if connection.is_some_and(|connection| connection.born == born && connection.stranger.is_some()) {
                self.drop_connection(index);
            }
        }
    }

    /// What packets of a connection may cost: a stranger's less than a client's.
    pub(in crate::shard) fn limits_of(&mut self, index: usize, is_client: bool) -> Arc<Limits> {
        let settings = self.client_settings(index);
        if is_client { settings.limits.clone() } else { settings.connect_limits.clone() }
    }

    /// Whether `bytes`, all that a stranger has sent, may become its CONNECT, or are a step behind it; refuses it if not.
    pub(in crate::shard) fn may_begin(&mut self, index: usize, bytes: &[u8], limits: &Limits) -> bool {
        if self.exchange(index).is_some_and(|exchange| !exchange.connect.is_empty()) {
            return true;
        }
        let FirstBytes::Refuse(error) = first_bytes(bytes, limits) else { return true };
        if let Some(connection) = self.clients.connection(index) {
            let url = &self.shared.listener(connection.listener).url;
            self.shared.strangers.unfit(&error, connection.socket.peer(), url, self.now_ms);
        }
        self.tell_spoken(index, spoken(bytes));
        self.malformed(index, &error);
        false
    }
}
