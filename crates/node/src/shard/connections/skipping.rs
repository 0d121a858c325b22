//! A PUBLISH of 3.1 or 3.1.1 that is larger than any may be: its payload is thrown away as it comes, and it is refused alone.
//!
//! Before 5.0 nobody can be told why he is cut off, nor how large a packet may be: a client with QoS 1 or 2 comes back and sends
//! the same again, for ever. What is thrown away costs what all bytes cost, and no memory.

use lapwing_codec::{Limits, ProtocolError, PublishHead, ReasonCode, decode};
use lapwing_session::{Beyond, Step};

use crate::shard::Shard;
use crate::shard::connections::serve::{Client, Flow};
use crate::shard::connections::underway::Underway;

/// Such a packet, while its payload comes.
#[derive(Debug)]
pub(crate) struct Skipping {
    /// It, without its payload.
    packet: Vec<u8>,
    /// Bytes of the payload that have not come.
    left: usize,
    /// Bytes of the whole packet.
    bytes: usize,
}

impl Skipping {
    /// Bytes that are kept of it.
    pub(crate) fn held_bytes(&self) -> usize {
        self.packet.capacity()
    }
}

/// What becomes of bytes that are no packet.
pub(in crate::shard) enum Unreadable {
    /// So many bytes were the head of a packet whose payload is skipped from here on.
    Skipped(usize),
    /// More has to come before that can be said.
    NotWhole,
    /// The connection is over.
    Closed,
}

impl Shard {
    pub(in crate::shard) fn is_skipping(&mut self, index: usize) -> bool {
        self.clients.connection(index).is_some_and(|connection| connection.skipping().is_some())
    }

    /// Ends the connection over `error`, unless it is a packet that can be skipped.
    #[cold]
    pub(in crate::shard) fn unreadable(
        &mut self,
        index: usize,
        client: Option<&Client>,
        bytes: &[u8],
        error: &ProtocolError,
    ) -> Unreadable {
        let is_told = client.is_none_or(|client| client.version.has_properties());
        if !is_told && error.reason == ReasonCode::PacketTooLarge {
            match PublishHead::read(bytes) {
                Ok(None) => return Unreadable::NotWhole,
                Ok(Some(head)) => return self.begin_to_skip(index, head),
                // Another packet, or none at all.
                Err(_) => {}
            }
        }
        self.tell_too_large(index, bytes, error);
        self.malformed(index, error);
        Unreadable::Closed
    }

    fn begin_to_skip(&mut self, index: usize, head: PublishHead) -> Unreadable {
        let PublishHead { packet, len, payload_bytes } = head;
        let Some(connection) = self.clients.connection(index) else { return Unreadable::Closed };
        let skipping = Skipping { packet, left: payload_bytes, bytes: len + payload_bytes };
        connection.underway = Underway::Skipping(Box::new(skipping));
        Unreadable::Skipped(len)
    }

    /// Throws away what of `bytes` is payload: how many that were, and what follows from the packet if that was all of it.
    #[cold]
    pub(in crate::shard) fn skip(
        &mut self,
        index: usize,
        client: Option<&Client>,
        bytes: &[u8],
    ) -> (usize, Option<Flow>) {
        let (Some(client), Some(connection)) = (client, self.clients.connection(index)) else {
            return (0, Some(Flow::Gone));
        };
        let Some(mut skipping) = connection.take_skipping() else { return (0, Some(Flow::Continue)) };
        let taken = skipping.left.min(bytes.len());
        skipping.left -= taken;
        if skipping.left > 0 {
            connection.underway = Underway::Skipping(skipping);
            return (taken, None);
        }
        (taken, Some(self.refuse_skipped(index, client, &skipping)))
    }

    /// What any message meets that is beyond a limit, now that it is here as far as it ever will be.
    fn refuse_skipped(&mut self, index: usize, client: &Client, skipped: &Skipping) -> Flow {
        self.counters.packets_in.add(1);
        self.counters.traffic.publish_bytes_in.add(skipped.bytes as u64);
        let packet = match decode(&skipped.packet, client.version, &Limits::PROTOCOL) {
            Ok(Some((packet, _))) => packet,
            Ok(None) => unreachable!("a head is a whole packet"),
            Err(error) => {
                self.malformed(index, &error);
                return Flow::Gone;
            }
        };
        let now_ms = self.now_ms;
        match self.clients.with(client.session, |session, io| session.handle(&packet, now_ms, io)) {
            Some(Ok(Step::Publish(inbound))) => {
                self.refuse_beyond(index, client, &inbound, Beyond::PacketBytes(skipped.bytes))
            }
            // Of QoS 2, and known by its identifier.
            Some(Ok(_)) => self.check_output(index),
            Some(Err(close)) => {
                self.close(index, &close);
                Flow::Gone
            }
            None => Flow::Gone,
        }
    }
}
