//! Connections and the sessions behind them: accepted, read, written, paused, closed.

pub(super) mod accept;
pub(super) mod back_pressure;
pub(super) mod buffers;
pub(super) mod client_settings;
pub(super) mod clients;
pub(super) mod connection;
pub(super) mod disconnect;
pub(super) mod fences;
pub(super) mod first_word;
pub(super) mod flush;
pub(super) mod in_hand;
pub(super) mod lingering_close;
pub(super) mod packet_ends;
pub(super) mod packets;
pub(super) mod rate;
pub(super) mod sent;
pub(super) mod serve;
pub(super) mod session_row;
pub(super) mod session_table;
pub(super) mod shaken;
pub(super) mod skipping;
pub(super) mod strangers;
pub(super) mod turn_lists;
pub(super) mod underway;

use self::back_pressure::Paused;
use self::client_settings::ClientSettings;
use self::in_hand::InHand;
use super::Shard;
use super::room::Room;
use crate::doors::Doors;
use crate::handshakes::Shaken;

/// How connections come, and what they wait for; they themselves are in [`clients::Clients`].
pub(super) struct ConnectionRoom {
    /// By listener.
    pub(super) settings: Vec<ClientSettings>,
    pub(super) doors: Doors,
    pub(super) is_listening: bool,
    /// From each thread that does handshakes: connections to take.
    pub(super) shaken: Vec<Shaken>,
    /// Connections that are not read until there is room; each knows why.
    pub(super) paused: Paused,
    /// Shared by all connections; what is left of a read moves to the connection.
    pub(super) read_buffer: Vec<u8>,
    /// What is being done for a client.
    pub(super) in_hand: InHand,
    /// Filters that the connection in hand has subscribed to or cancelled in this turn.
    pub(super) filters_taken: u64,
    /// Connections that are over for us and wait for their peer's end.
    pub(super) lingering: usize,
}

impl ConnectionRoom {
    /// `read_bytes`: of one connection in one read.
    pub(super) fn new(settings: Vec<ClientSettings>, doors: Doors, shaken: Vec<Shaken>, read_bytes: usize) -> Self {
        ConnectionRoom {
            settings,
            doors,
            is_listening: false,
            shaken,
            paused: Paused::default(),
            read_buffer: vec![0; read_bytes],
            in_hand: InHand::Nobody,
            filters_taken: 0,
            lingering: 0,
        }
    }
}

impl Room for ConnectionRoom {
    fn has_work(shard: &mut Shard) -> bool {
        shard.clients.has_touched()
            || shard.can_resume()
            || (shard.clients.ready_count() > 0 && !shard.mail.post.is_overfull())
            || shard.connections.doors.are_open(shard.now_ms)
            || shard.has_shaken()
            || shard.shared.strangers.has_ended(shard.id.index())
    }

    fn next_at_ms(shard: &Shard) -> Option<u64> {
        shard.connections.doors.next_at()
    }

    fn is_settled(shard: &mut Shard) -> bool {
        !shard.has_shaken()
    }
}
