//! Who becomes a client: a connection to the shard of its id, if there is room for one more.

use std::net::SocketAddr;
use std::sync::Arc;

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
use super::link::{Link, Stage, Written};
use super::opening::Opening;
use super::packets;
use super::thread::{GUESTS, NOBODIES, SnThread};
use super::will::StoredWill;
use crate::mail::MovedConnection;
use crate::shared::Crowded;
use crate::slot::Slot;

/// Whom a connection is for.
pub(super) struct Caller {
    peer: PeerAddress,
    /// What it has shown in its handshake.
    shown: Option<Arc<Proof>>,
    /// It may be somewhere else.
    is_unseen: bool,
}

impl Caller {
    pub(super) fn at(peer: SocketAddr, shown: Option<Arc<Proof>>, is_unseen: bool) -> Self {
        Caller { peer: PeerAddress::Net(peer), shown, is_unseen }
    }

    /// Who speaks for all that publish without a connection.
    fn nobody() -> Self {
        Caller { peer: PeerAddress::Local, shown: None, is_unseen: false }
    }
}

impl SnThread {
    /// Whether somebody who is not known may begin to connect; if not, it is counted, and answered where it may try again.
    pub(super) fn may_meet(&mut self, door: usize, address: &Address<'_>) -> bool {
        // Nobody but ourselves sends from there, and we say no CONNECT: somebody wants us to answer ourselves.
        if self.sockets.iter().any(|socket| socket.sends_from(address.source().1)) {
            self.counters.dropped(Dropped::OutOfState);
            return false;
        }
        if !self.is_paced(door, address) {
            return false;
        }
        let is_full = self.table.len() >= self.shared.config.limits.connections_max as usize;
        let has_place = !is_full || self.send_beginner_away() || self.send_oldest_away();
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
    pub(super) fn is_paced(&self, door: usize, address: &Address<'_>) -> bool {
        let limiter = self.limiters[door].as_ref();
        let is_paced = limiter.is_none_or(|limiter| limiter.take(address.source().1.ip().to_canonical()));
        if !is_paced {
            // Whoever sends so many is not told so with as many again.
            self.counters.dropped(Dropped::AddressRate);
        }
        is_paced
    }

    /// One that was asked for its will, and has not gone on, goes for somebody else.
    fn send_beginner_away(&mut self) -> bool {
        let Some(oldest) = self.table.oldest_beginner() else { return false };
        self.counters.dropped(Dropped::ClientsFull);
        self.remove(oldest);
        true
    }

    /// One that has not answered since it was connected goes for somebody who is not known.
    fn send_oldest_away(&mut self) -> bool {
        let Some(oldest) = self.table.oldest_silent(usize::MAX, None) else { return false };
        self.send_silent_away(oldest);
        true
    }

    /// It goes, because its place is wanted; whether that ends a connection.
    fn send_silent_away(&mut self, index: usize) -> bool {
        self.counters.dropped(Dropped::ClientsFull);
        let link = self.table.get(index).and_then(|guest| guest.link.as_mut());
        let ends_connection = link.is_some_and(|link| !link.is_over());
        self.remove(index);
        ends_connection
    }

    /// Counts one more connection of a listener, for the one at `index`. Where there is no room, those go that have not answered
    /// since they were connected, the oldest first: where the listener has none, its own, for only those free a place of it.
    /// # Errors
    /// The bound that has no room, and nobody is left who may go.
    fn take_place(&mut self, door: usize, index: usize) -> Result<(), Crowded> {
        let listener = self.doors[door].id;
        loop {
            let Err(crowded) = self.shared.connection_opened(listener) else { return Ok(()) };
            let of_listener = crowded == Crowded::Listener || self.shared.listener(listener).is_full();
            let oldest = self.table.oldest_silent(index, of_listener.then_some(door));
            // Who has said nothing for longer than a connection waits has none any more, so that nothing ends with it.
            if self.send_silent_away(oldest.ok_or(crowded)?) {
                self.shared.connection_replaced(listener);
                return Ok(());
            }
        }
    }

    /// Opens the connection that a client asks for. Unless it has shown to be there, the broker only judges it, if its session
    /// would be kept or take somebody's place: see [`super::word`].
    pub(super) fn open(&mut self, index: usize, opening: Opening) {
        let Some(guest) = self.table.get(index) else { return };
        if guest.repeats(&opening) {
            return self.accept_again(index);
        }
        let (client_id, is_another) = (&opening.client_id, guest.is_another(&opening.client_id));
        let is_unseen = !guest.is_there_as(client_id);
        if is_another {
            self.keep_will(index);
        }
        let Some(guest) = self.table.get(index) else { return };
        if is_another {
            guest.forget();
        }
        // The former connection from this address ends here. Who slept comes back in order; who did not has lost it.
        guest.client.cut_off();
        let former = guest.link.take().map(|mut link| {
            if guest.client.phase() != Phase::Active {
                link.end();
            }
            link
        });
        guest.begin(&opening);
        let (door, peer) = (guest.door(), guest.address.get().source());
        former.into_iter().for_each(|link| self.let_go(link));
        let will = if is_unseen && !opening.clean_session {
            self.will_of(index, &opening).0
        } else {
            self.inherit(index, &opening);
            self.table.get(index).and_then(|guest| guest.wills.get().cloned())
        };
        let expiry_s = self.doors[door].session_expiry_s;
        let connect = packets::connect(client_id, opening.clean_session, expiry_s, will.as_ref());
        let mut bytes = Vec::new();
        let is_said = Packet::Connect(connect).encode(Version::V5, &mut bytes).is_ok();
        let link = if is_said {
            let caller = Caller::at(peer.1, self.tunnels.shown(peer), is_unseen);
            self.connect(door, caller, client_id, bytes, Token(GUESTS + index), index)
        } else {
            None
        };
        match self.table.get(index).filter(|_| link.is_some()) {
            Some(guest) => {
                guest.link = link;
                self.table.call(index, client_id);
            }
            None => self.refuse(index),
        }
    }

    /// What a client has from before, at another address or when it went: the ids of its topics, and its will.
    pub(super) fn inherit(&mut self, index: usize, opening: &Opening) {
        let ids = self.namesake(index, opening).map(|other| other.client.ids());
        let (will, is_kept) = self.will_of(index, opening);
        let Some(guest) = self.table.get(index) else { return };
        if let Some(ids) = ids {
            guest.client.inherit(ids);
        }
        guest.wills.set(will, opening.will == WillChange::Keep);
        guest.has_kept_will = is_kept;
    }

    /// The will of a client that connects, and whether it is the one that it left.
    fn will_of(&mut self, index: usize, opening: &Opening) -> (Option<StoredWill>, bool) {
        match &opening.will {
            WillChange::Delete => return (None, false),
            WillChange::Set { topic, payload, qos, retain } => {
                let (topic, payload) = (topic.clone(), payload.clone());
                return (Some(StoredWill { topic, payload, qos: *qos, retain: *retain }), false);
            }
            WillChange::Keep => {}
        }
        let kept = self.kept_will(index, &opening.client_id);
        let others = self.namesake(index, opening).and_then(|other| other.wills.get().cloned());
        let Some(guest) = self.table.get(index) else { return (None, false) };
        let is_kept = guest.has_kept_will || kept.is_some();
        (guest.wills.get().cloned().or(others).or(kept), is_kept)
    }

    /// Who has the client id of a session that is to go on, at another address. Whoever has shown another name is told nothing
    /// of it.
    fn namesake(&self, index: usize, opening: &Opening) -> Option<&Guest> {
        let shown = |guest: &Guest| self.tunnels.shown(guest.address.get().source());
        let own = self.table.look(index).and_then(shown);
        let namesake = self.table.namesake(&opening.client_id, index).filter(|_| !opening.clean_session);
        namesake.filter(|other| is_same_holder(own.as_deref(), shown(other).as_deref()))
    }

    /// The CONNACK has not arrived.
    fn accept_again(&mut self, index: usize) {
        let SnThread { table, doors, counters, out, now_ms, .. } = self;
        let Some(guest) = table.get(index) else { return };
        let terms = &doors[guest.door()];
        guest.accept(&mut Io { terms, counters, now_ms: *now_ms, out });
        self.finish(index, Then::Stay);
    }

    pub(super) fn refuse(&mut self, index: usize) {
        let SnThread { table, doors, counters, out, now_ms, .. } = self;
        let Some(guest) = table.get(index) else { return };
        let terms = &doors[guest.door()];
        let then = guest.refused(ReturnCode::CONGESTION, &mut Io { terms, counters, now_ms: *now_ms, out });
        self.finish(index, then);
    }

    /// A connection to the shard of `client_id`, which begins with the CONNECT in `bytes`.
    pub(super) fn connect(
        &mut self,
        door: usize,
        Caller { peer, shown, is_unseen }: Caller,
        client_id: &Arc<str>,
        bytes: Vec<u8>,
        token: Token,
        index: usize,
    ) -> Option<Link> {
        let listener = self.doors[door].id;
        if let Err(crowded) = self.take_place(door, index) {
            self.shared.crowded_out(crowded, peer, listener);
            return None;
        }
        let pair = Socket::pair(peer, shown).and_then(|(mut ours, theirs)| {
            ours.register(self.event_loop.registry(), token)?;
            Ok((ours, theirs))
        });
        let Ok((ours, theirs)) = pair else {
            self.shared.connection_closed(listener);
            return None;
        };
        let shard = self.shared.placement.owner_of(Slot::of(client_id.as_bytes())).shard;
        self.lines[shard.index()].send(MovedConnection {
            socket: theirs,
            listener,
            bytes,
            accepted_ms: self.now_ms,
            stranger: None,
            is_unseen,
            called: Some(client_id.clone()),
        });
        Some(Link::new(ours, if is_unseen { Stage::Asking } else { Stage::Entering }))
    }

    /// A message of QoS -1 goes through the connection that all of its listener have together.
    pub(super) fn publish_of_nobody(&mut self, door: usize, publish: &Publish<'_>) {
        if self.nobodies[door].is_none() && !self.has_left {
            let client_id = Arc::from(&*self.doors[door].nobody);
            let mut bytes = Vec::new();
            let connect = packets::connect(&client_id, true, 0, None);
            if Packet::Connect(connect).encode(Version::V5, &mut bytes).is_ok() {
                let token = Token(NOBODIES + door);
                self.nobodies[door] = self.connect(door, Caller::nobody(), &client_id, bytes, token, usize::MAX);
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
