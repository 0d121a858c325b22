//! The packets that one read has brought, one after another: whole ones are handled, one that is too large is skipped.

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use lapwing_codec::{Limits, Packet, ProtocolError, Version, decode};

use crate::shard::Shard;
use crate::shard::connections::serve::{Client, Flow};
use crate::shard::connections::skipping::Unreadable;

/// How far one read has been handled.
struct Walk<'a> {
    index: usize,
    bytes: &'a [u8],
    /// So many bytes of it are done with.
    at: usize,
    /// Whose connection it is, once its CONNECT is through; and what its packets may be.
    client: Option<Client>,
    limits: Arc<Limits>,
    /// What comes next is the payload of a packet that nobody takes.
    is_skipping: bool,
}

impl<'a> Walk<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }
}

/// Whether the next packet, please; otherwise what happens to the connection.
type Step = ControlFlow<Flow>;

impl Shard {
    /// Handles every whole packet in `bytes`; returns how many bytes that were.
    pub(in crate::shard) fn handle_packets(&mut self, index: usize, bytes: &[u8]) -> (usize, Flow) {
        let client = self.client_of(index);
        let limits = self.limits_of(index, client.is_some());
        self.connections.filters_taken = 0;
        let is_skipping = self.is_skipping(index);
        let mut walk = Walk { index, bytes, at: 0, client, limits, is_skipping };
        while walk.at < bytes.len() || walk.is_skipping {
            let step = if walk.is_skipping { self.skip_on(&mut walk) } else { self.next_packet(&mut walk) };
            if let Break(flow) = step {
                return (walk.at, flow);
            }
        }
        (walk.at, Flow::Continue)
    }

    fn skip_on(&mut self, walk: &mut Walk<'_>) -> Step {
        let (skipped, flow) = self.skip(walk.index, walk.client.as_ref(), walk.rest());
        walk.at += skipped;
        match flow {
            Some(Flow::Continue) => {
                walk.is_skipping = false;
                Continue(())
            }
            Some(flow) => Break(flow),
            // The rest of it has not come.
            None => Break(Flow::Continue),
        }
    }

    #[inline]
    fn next_packet(&mut self, walk: &mut Walk<'_>) -> Step {
        let bytes = walk.rest();
        if walk.client.is_none() && !self.may_begin(walk.index, bytes, &walk.limits) {
            return Break(Flow::Gone);
        }
        // The first packet is a CONNECT, which brings its own version.
        let version = walk.client.as_ref().map_or(Version::V5, |client| client.version);
        match decode(bytes, version, &walk.limits) {
            Ok(Some((packet, len))) => self.take_packet(walk, &packet, len),
            Ok(None) => Break(Flow::Continue),
            Err(error) => self.take_unreadable(walk, &error),
        }
    }

    #[inline]
    fn take_packet(&mut self, walk: &mut Walk<'_>, packet: &Packet<'_>, len: usize) -> Step {
        let flow = self.flow_of(walk, packet);
        match flow {
            Flow::Asked => return Break(Flow::Paused),
            Flow::Partly => return Break(self.check_share(walk.index)),
            _ => {}
        }
        self.counters.packets_in.add(1);
        if let Packet::Publish(_) = packet {
            self.counters.traffic.publish_bytes_in.add(len as u64);
        }
        walk.at += len;
        self.flush_large();
        let Some(connection) = self.clients.connection(walk.index) else { return Break(Flow::Gone) };
        // An answer is for the packet that it was asked for, also when the session did not want that one.
        connection.forget_room();
        if flow != Flow::Continue {
            return Break(flow);
        }
        if walk.client.is_none() {
            walk.client = self.client_of(walk.index);
            walk.limits = self.limits_of(walk.index, walk.client.is_some());
        }
        Continue(())
    }

    /// Handles a packet, unless something has to be asked first.
    #[inline]
    fn flow_of(&mut self, walk: &Walk<'_>, packet: &Packet<'_>) -> Flow {
        let index = walk.index;
        match &walk.client {
            Some(client) if self.must_wait(index, client, packet) => Flow::Asked,
            Some(client) if self.is_hooked(packet) => self.hooked_packet(index, client, packet, walk.rest()),
            Some(client) => self.handle_packet(index, client, packet),
            None => self.first_packet(index, packet, walk.rest()),
        }
    }

    /// Whether a packet must wait, unhandled: for an answer about room, or for room in the log.
    #[inline]
    fn must_wait(&mut self, index: usize, client: &Client, packet: &Packet<'_>) -> bool {
        let Packet::Publish(publish) = packet else { return false };
        let (needs_room, needs_log) = (self.needs_room(index, client, publish), self.needs_log(publish));
        if !needs_room && !needs_log {
            return false;
        }
        let Some(topic) = self.topic_of(client.session, publish) else { return false };
        (needs_room && self.must_ask_for_room(index, client, publish, &topic))
            || (needs_log && self.must_wait_for_log(index, publish, &topic))
    }

    #[cold]
    fn take_unreadable(&mut self, walk: &mut Walk<'_>, error: &ProtocolError) -> Step {
        match self.unreadable(walk.index, walk.client.as_ref(), walk.rest(), error) {
            Unreadable::Skipped(head) => {
                walk.at += head;
                walk.is_skipping = true;
                Continue(())
            }
            Unreadable::NotWhole => Break(Flow::Continue),
            Unreadable::Closed => Break(Flow::Gone),
        }
    }
}
