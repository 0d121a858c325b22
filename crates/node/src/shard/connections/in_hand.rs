//! What a shard is at, so that a panic can say whose packet it was.

use std::sync::Arc;

use crate::audit::told;
use crate::shard::Shard;
use crate::shard::connections::connection::Stage;

/// What is being done for one client. Set once for all packets of a read and once for a write: it costs a store.
#[derive(Debug, Default)]
pub(in crate::shard) enum InHand {
    /// Nothing for anybody in particular.
    #[default]
    Nobody,
    /// What a connection has sent; its index.
    Packet(usize),
    /// A CONNECT, and what came with it: the session is in no table meanwhile.
    Connect(Arc<str>),
    /// What a connection is sent; its index.
    Output(usize),
}

impl Shard {
    /// The same in words, for whoever reads that the shard has panicked. A client id is text of a stranger, so it is quoted,
    /// cut, and has no control characters and no token.
    pub(crate) fn in_hand_words(&mut self) -> Option<String> {
        let in_hand = std::mem::take(&mut self.connections.in_hand);
        match in_hand {
            InHand::Nobody => None,
            InHand::Packet(index) => Some(format!("a packet of {}", self.words_for(index))),
            InHand::Connect(id) => Some(format!("a packet of client {:?}", told(&id))),
            InHand::Output(index) => Some(format!("output for {}", self.words_for(index))),
        }
    }

    fn words_for(&mut self, index: usize) -> String {
        match self.clients.connection(index).map(|connection| connection.stage) {
            Some(Stage::Open { session, .. }) => {
                let id = self.clients.row(session).map(|row| row.session.shared_client_id().clone());
                id.map_or_else(|| "a client whose session is over".into(), |id| format!("client {:?}", told(&id)))
            }
            Some(Stage::Connecting { .. }) => "a connection without CONNECT".into(),
            Some(Stage::Closing) | None => "a connection that is over".into(),
        }
    }
}
