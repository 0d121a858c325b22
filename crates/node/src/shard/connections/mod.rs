//! Connections and the sessions behind them: accepted, read, written, paused, closed.

pub(super) mod accept;
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
pub(super) mod pause;
pub(super) mod rate;
pub(super) mod sent;
pub(super) mod serve;
pub(super) mod session_row;
pub(super) mod session_table;
pub(super) mod shaken;
pub(super) mod skipping;
pub(super) mod strangers;
pub(super) mod turn_lists;
