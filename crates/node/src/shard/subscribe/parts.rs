//! SUBSCRIBE and UNSUBSCRIBE with more filters than one turn takes: done by parts, answered once.
//!
//! The packet's bytes stay in the connection's input until its last part is done, so nothing behind it overtakes it. A
//! connection that ends in between leaves what is done: the specification has a packet of many filters be as good as many
//! packets, and nobody was told that it is done.

use lapwing_session::{Reply, SubscribeRequest, UnsubscribeRequest};

use crate::shard::Shard;
use crate::shard::connections::back_pressure::FILTERS_PER_SHARE;
use crate::shard::connections::connection::Connection;
use crate::shard::connections::serve::{Client, Flow};
use crate::shard::connections::underway::Underway;
use crate::shard::subscribe::Waits;

/// How much of the packet in hand is done.
#[derive(Clone, Copy, Debug)]
pub(in crate::shard) struct Parts {
    filters: usize,
    /// Its answer's.
    place: usize,
}

impl Shard {
    /// Does as many filters of a SUBSCRIBE as this turn has room for.
    pub(in crate::shard) fn subscribe(
        &mut self,
        index: usize,
        client: &Client,
        request: &SubscribeRequest<'_>,
    ) -> Flow {
        let (done, share) = self.next_part(index);
        let applied = self.apply_subscribe(client.session, &request.part(done, share), &[]);
        self.answer_part(index, client, applied, request.ends_at(done + share))
    }

    /// Does as many filters of an UNSUBSCRIBE as this turn has room for.
    pub(in crate::shard) fn unsubscribe(
        &mut self,
        index: usize,
        client: &Client,
        request: &UnsubscribeRequest<'_>,
    ) -> Flow {
        let (done, share) = self.next_part(index);
        let applied = self.apply_unsubscribe(client.session, &request.part(done, share));
        self.answer_part(index, client, applied, request.ends_at(done + share))
    }

    /// How many filters of the packet in hand are done, and how many may be now: one at least.
    fn next_part(&mut self, index: usize) -> (usize, usize) {
        let parts = self.clients.connection(index).and_then(|connection| connection.parts());
        let share = FILTERS_PER_SHARE.saturating_sub(self.connections.filters_taken).max(1);
        (parts.map_or(0, |parts| parts.filters), share as usize)
    }

    fn answer_part(&mut self, index: usize, client: &Client, applied: Option<(Reply, Waits)>, is_last: bool) -> Flow {
        let Some((reply, waits)) = applied else { return Flow::Gone };
        let before = self.clients.connection(index).and_then(Connection::take_parts);
        let filters = before.map_or(0, |parts| parts.filters) + reply.reasons().len();
        let begun = before.map(|parts| parts.place);
        let place = self.wait_or_reply(client.session, (reply, waits), begun, !is_last && begun.is_none());
        match self.clients.connection(index) {
            Some(connection) if !is_last => {
                connection.underway = Underway::Parts(Box::new(Parts { filters, place }));
                Flow::Partly
            }
            _ => {
                if begun.is_some() {
                    self.confirmed(place);
                }
                self.check_share(index)
            }
        }
    }

    /// The connection is over: the rest of its packet never comes.
    pub(in crate::shard) fn give_up_parts(&mut self, index: usize) {
        if let Some(parts) = self.clients.connection(index).and_then(Connection::take_parts) {
            self.confirmed(parts.place);
        }
    }
}
