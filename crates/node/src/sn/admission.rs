//! Who becomes a client: a connection to the shard of its id, if there is room for one more.

use std::sync::Arc;
use std::time::Instant;

use lapwing_codec::{Packet, Publish, Version};
use lapwing_sn::ReturnCode;
use lapwing_sn::peer::{Phase, WillChange};
use lapwing_transport::{PeerAddress, Proof, Socket};
use mio::Token;

use super::address::Address;
use super::counters::Dropped;
use super::guest::{Guest, Then};
use super::io::Io;
use super::kept_wills::is_same_holder;
use super::link::{Link, Written};
use super::opening::Opening;
use super::packets;
use super::thread::{GUESTS, NOBODIES, SnThread};
use super::will::StoredWill;
use crate::mail::MovedConnection;
use crate::slot::Slot;

/// Whom a connection is for.
struct Caller {
    peer: PeerAddress,
    /// What it has shown in its handshake.
    shown: Option<Arc<Proof>>,
}

impl SnThread {
    /// Whether somebody who is not known may begin to connect; if not, it is counted, and answered where it may try again.
    pub(super) fn may_meet(&mut self, door: usize, address: &Address) -> bool {
        if !self.is_paced(door, address) {
            return false;
        }
        let has_place =
            self.table.len() < self.shared.config.limits.connections_max as usize || self.make_place(usize::MAX);
        if !has_place || self.has_left {
            self.counters.dropped(Dropped::ClientsFull);
            let limits = &self.doors[door].settings(address).limits;
            if lapwing_sn::Message::ConnAck(ReturnCode::CONGESTION).encode(limits, &mut self.out).is_ok() {
                self.send(address);
            }
            return false;
        }
        true
    }

    /// Whether an address may connect now, as often as it has in the last second; counted if not. A CONNECT of one that is
    /// connected makes a connection too, and may name another client each time.
    pub(super) fn is_paced(&self, door: usize, address: &Address) -> bool {
        let limiter = self.limiters[door].as_ref();
        let is_paced = limiter.is_none_or(|limiter| limiter.take(address.peer.ip().to_canonical()));
        if !is_paced {
            // Whoever sends so many is not told so with as many again.
            self.counters.dropped(Dropped::AddressRate);
        }
        is_paced
    }

    /// One that has not answered since it was connected goes for the one at `index`.
    fn make_place(&mut self, index: usize) -> bool {
        let Some(oldest) = self.table.oldest_silent(index) else { return false };
        self.counters.dropped(Dropped::ClientsFull);
        self.remove(oldest);
        true
    }

    /// Opens the connection that a client asks for.
    pub(super) fn open(&mut self, index: usize, opening: Opening) {
        if self.table.get(index).is_some_and(|guest| guest.repeats(&opening)) {
            return self.accept_again(index);
        }
        let Opening { client_id, clean_session, will } = opening;
        let shown = |guest: &Guest| self.tunnels.shown((guest.address.socket, guest.address.peer));
        let own = self.table.get(index).and_then(|guest| shown(guest));
        let namesake = if clean_session { None } else { self.table.namesake(&client_id, index) };
        // Whoever says the same client id, and has shown another name, is told nothing of it.
        let namesake = namesake.filter(|other| is_same_holder(own.as_deref(), shown(other).as_deref()));
        // What it left at another address, or when it went: the ids of its topics, and its will.
        let (ids, old_will) = namesake.map_or((None, None), |other| (Some(other.client.ids()), other.will.clone()));
        let kept_will = self.kept_will(index, &client_id, own.as_deref());
        if self.table.get(index).is_some_and(|guest| guest.is_another(&client_id)) {
            self.keep_will(index);
        }
        let Some(guest) = self.table.get(index) else { return };
        if guest.is_another(&client_id) {
            guest.forget();
        }
        if let Some(ids) = ids {
            guest.client.inherit(ids);
        }
        if will != WillChange::Keep {
            guest.will_message = None;
        }
        guest.is_unsettled = true;
        guest.has_kept_will = will == WillChange::Keep && (guest.has_kept_will || kept_will.is_some());
        guest.will = match will {
            WillChange::Keep => guest.will.take().or(old_will).or(kept_will),
            WillChange::Delete => None,
            WillChange::Set { topic, payload, qos, retain } => Some(StoredWill { topic, payload, qos, retain }),
        };
        // The former connection from this address ends here. Who slept comes back in order; who did not has lost it.
        let former = guest.link.take().map(|mut link| {
            if guest.client.phase() != Phase::Active {
                link.end();
            }
            link
        });
        guest.waiting.clear();
        guest.clean_session = clean_session;
        guest.has_answered = false;
        let (terms, will) = (&self.doors[guest.door], guest.will.clone());
        let connect = packets::connect(&client_id, clean_session, terms.session_expiry_s, will.as_ref());
        let mut bytes = Vec::new();
        let is_said = Packet::Connect(connect).encode(Version::V5, &mut bytes).is_ok();
        let (door, peer) = (guest.door, guest.address.peer);
        former.into_iter().for_each(|link| self.let_go(link));
        let link = if is_said {
            let caller = Caller { peer: PeerAddress::Net(peer), shown: own };
            self.connect(door, caller, &client_id, bytes, Token(GUESTS + index), index)
        } else {
            None
        };
        match link {
            Some(link) => {
                if let Some(guest) = self.table.get(index) {
                    guest.link = Some(link);
                }
                self.table.name(index, &client_id);
            }
            None => self.refuse(index),
        }
    }

    /// The CONNACK has not arrived.
    fn accept_again(&mut self, index: usize) {
        let SnThread { table, doors, counters, out, now_ms, .. } = self;
        let Some(guest) = table.get(index) else { return };
        let terms = &doors[guest.door];
        guest.accept(&mut Io { terms, counters, now_ms: *now_ms, out });
        self.finish(index, Then::Stay);
    }

    fn refuse(&mut self, index: usize) {
        let SnThread { table, doors, counters, out, now_ms, .. } = self;
        let Some(guest) = table.get(index) else { return };
        let terms = &doors[guest.door];
        let then = guest.refused(ReturnCode::CONGESTION, &mut Io { terms, counters, now_ms: *now_ms, out });
        self.finish(index, then);
    }

    /// A connection to the shard of `client_id`, which begins with the CONNECT in `bytes`.
    fn connect(
        &mut self,
        door: usize,
        Caller { peer, shown }: Caller,
        client_id: &str,
        bytes: Vec<u8>,
        token: Token,
        index: usize,
    ) -> Option<Link> {
        let listener = self.doors[door].id;
        if let Err(crowded) = self.shared.connection_opened(listener) {
            if !self.make_place(index) {
                self.shared.crowded_out(crowded, peer, listener);
                return None;
            }
            self.shared.connection_replaced(listener);
        }
        let pair = Socket::pair(peer, shown).and_then(|(mut ours, theirs)| {
            ours.register(self.event_loop.registry(), token)?;
            Ok((ours, theirs))
        });
        let Ok((ours, theirs)) = pair else {
            self.shared.connection_closed(listener);
            return None;
        };
        let shard = Slot::of(client_id.as_bytes()).shard(self.lines.len() as u32);
        let accepted_at = Instant::now();
        self.lines[shard.index()].send(MovedConnection {
            socket: theirs,
            listener,
            bytes,
            accepted_at,
            stranger: None,
        });
        Some(Link::new(ours))
    }

    /// A message of QoS -1 goes through the connection that all of its listener have together.
    pub(super) fn publish_of_nobody(&mut self, door: usize, publish: &Publish<'_>) {
        if self.nobodies[door].is_none() && !self.has_left {
            let client_id = self.doors[door].nobody.clone();
            let mut bytes = Vec::new();
            let connect = packets::connect(&client_id, true, 0, None);
            if Packet::Connect(connect).encode(Version::V5, &mut bytes).is_ok() {
                let token = Token(NOBODIES + door);
                self.nobodies[door] = self.connect(
                    door,
                    Caller { peer: PeerAddress::Local, shown: None },
                    &client_id,
                    bytes,
                    token,
                    usize::MAX,
                );
            }
        }
        let is_taken = self.nobodies[door].as_mut().is_some_and(|link| link.publish(publish, None));
        if is_taken {
            self.counters.without_connect.add(1);
        } else {
            self.counters.dropped(Dropped::Congested);
        }
    }

    /// What the broker says to nobody is not heard; when it ends the connection, there is another one for the next message.
    pub(super) fn look_at_nobodies(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for nobody in &mut self.nobodies {
            let Some(link) = nobody else { continue };
            let mut is_over = link.flush() == Written::Broken;
            while link.is_readable && !is_over {
                is_over = link.read(&mut buffer).is_none();
            }
            if is_over {
                *nobody = None;
            }
        }
        self.buffer = buffer;
    }
}
