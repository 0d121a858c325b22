//! Connections to the other nodes of the cluster: made, judged, read and written; frames go to who hears them.
//!
//! Of two nodes the one with the lower number connects; the other one does when nobody comes. What is no word of a node of
//! this cluster is cut and counted; nothing else is felt.

mod cut;
mod dial;
mod guest;
mod hello;
mod link;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lapwing_peer::{Frame, Hello, JoinAsk, Link as LinkKind, NodeId, Refusal};
use lapwing_replica::FrameFault;
use lapwing_transport::{AcceptError, PeerListener, PeerStream, PeerTls};
use mio::{Registry, Token};
use slab::Slab;

use super::error::MemberError;
pub(crate) use cut::Cut;
use dial::Dials;
pub(crate) use hello::{FRAME_BYTES_MAX, Introduced, NEWEST_LEVEL, Own, level_of};
use link::Link;

/// How long a connection may take until both have said who they are.
const INTRODUCTION_MAX: Duration = Duration::from_secs(5);
/// How long a node may be silent that is to say something five times a second.
const SILENCE_MAX: Duration = Duration::from_secs(5);
/// Connections that have not said who they are; those on top are not taken.
const STRANGERS_MAX: usize = 64;
/// Codes of refusals that say that this node's folder is a copy, another one, or an older one, or that the node was removed: it does
/// not know that itself.
const FOLDER_CODES: [u8; 4] = [3, 4, 5, 10];
/// How long somebody may take who joins, with the commit that it waits for.
const JOINING_MAX: Duration = Duration::from_secs(10);
/// Connections of those who join.
const GUESTS_MAX: usize = 8;
/// The event of the listener; those of connections are behind it.
const LISTENER: usize = 0;

/// Who hears what connections bring.
pub(crate) trait Hear {
    /// Appends this node's hello, for a connection of that kind.
    fn say_hello(&self, link: LinkKind, out: &mut Vec<u8>);
    /// Judges another node's.
    ///
    /// # Errors
    /// Why it is not spoken to.
    fn judge(&self, hello: &Hello<'_>, link: LinkKind) -> Result<Introduced, Refusal>;
    /// A node that was judged has come with a snapshot.
    fn for_snapshot(&mut self, link: ForSnapshot);
    /// There is a connection to a node; one that was there before is over.
    fn opened(&mut self, introduced: &Introduced);
    /// The connection to a node is over.
    fn closed(&mut self, peer: NodeId);
    /// A frame has come.
    ///
    /// # Errors
    /// It is no word of that node.
    fn frame(&mut self, peer: NodeId, frame: &Frame<'_>) -> Result<(), FrameFault>;
    /// Whether that node is to say something all the time.
    fn expects(&self, peer: NodeId) -> bool;
    /// Whether somebody may come to join.
    fn are_joining(&self) -> bool;
    /// Somebody asks to join: under which number the answer is had. `None`: too many do.
    fn asks(&mut self, ask: &JoinAsk<'_>) -> Option<u64>;
    /// Its answer, once there is one.
    fn take_answer(&mut self, number: u64) -> Option<Vec<u8>>;
    /// The connection of somebody who has asked is over.
    fn left(&mut self, number: u64);
    /// Whether a node does not belong to the cluster any more.
    fn is_out(&self, peer: NodeId) -> bool;
    /// Appends what goes to a node, until there are `bytes_max` bytes.
    fn fill(&mut self, peer: NodeId, bytes_max: usize, out: &mut Vec<u8>);
}

/// A connection over which a snapshot comes, behind both hellos.
pub(crate) struct ForSnapshot {
    pub(crate) stream: PeerStream,
    /// Read, and not taken.
    pub(crate) input: Vec<u8>,
    /// To be written.
    pub(crate) output: Vec<u8>,
}

/// All connections of a node.
pub(crate) struct Links {
    own: NodeId,
    tls: Arc<PeerTls>,
    listener: PeerListener,
    links: Slab<Link>,
    dials: Dials,
    cuts: BTreeMap<&'static str, u64>,
    /// The last words of who does not speak to this node, by node.
    refusals: BTreeMap<NodeId, String>,
    /// Another node knows that this node's folder is not what it should be.
    refused: Option<MemberError>,
}

impl Links {
    /// Begins to listen.
    ///
    /// # Errors
    /// The kernel refuses to watch the listener.
    pub(crate) fn new(
        own: NodeId,
        tls: Arc<PeerTls>,
        mut listener: PeerListener,
        registry: &Registry,
    ) -> io::Result<Links> {
        listener.register(registry, Token(LISTENER))?;
        let (links, dials) = (Slab::new(), Dials::default());
        Ok(Links { own, tls, listener, links, dials, cuts: BTreeMap::new(), refusals: BTreeMap::new(), refused: None })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Who else belongs to the cluster, and where.
    pub(crate) fn set_members<'a>(&mut self, members: impl Iterator<Item = (NodeId, &'a [String])>) {
        self.dials.set(self.own, members);
    }

    /// Events of the kernel, by token: whether it can be read, and written.
    pub(crate) fn happened(&mut self, token: Token, registry: &Registry, hear: &mut impl Hear, now: Instant) {
        match token.0.checked_sub(LISTENER + 1) {
            None => self.accept(registry, hear.are_joining(), now),
            Some(place) => self.go_on(place, registry, hear),
        }
    }

    fn accept(&mut self, registry: &Registry, are_joining: bool, now: Instant) {
        loop {
            match self.listener.accept(&self.tls, are_joining) {
                Ok(Some(stream)) => {
                    let strangers = self.links.iter().filter(|(_, link)| link.introduced.is_none()).count();
                    if strangers < STRANGERS_MAX {
                        self.add(Link::new(stream, None, now), registry);
                    } else {
                        self.count("strangers");
                    }
                }
                Ok(None) => return,
                Err(AcceptError::Connection(_)) => self.count("io"),
                // It is tried again with the next one that comes.
                Err(_) => return self.count("descriptors"),
            }
        }
    }

    fn add(&mut self, mut link: Link, registry: &Registry) {
        let entry = self.links.vacant_entry();
        match link.stream.register(registry, Token(entry.key() + LISTENER + 1)) {
            Ok(()) => drop(entry.insert(link)),
            Err(_) => self.count("io"),
        }
    }

    /// Reads what a connection has, and writes what waits for it.
    fn go_on(&mut self, place: usize, registry: &Registry, hear: &mut impl Hear) {
        let Some(link) = self.links.get_mut(place) else { return };
        let was_known = link.peer().is_some();
        let was_guest = link.guest.is_some();
        let mut went_on = link.read(hear).and_then(|()| link.write());
        let peer = link.peer();
        if link.is_for_snapshot && went_on.is_ok() {
            let mut link = self.links.remove(place);
            match link.stream.deregister(registry) {
                Ok(()) => hear.for_snapshot(link.for_snapshot()),
                Err(_) => self.count("io"),
            }
            return;
        }
        if link.guest.is_some() && !was_guest && self.guests() > GUESTS_MAX {
            went_on = Err(Cut::Strangers);
        }
        if let Some(peer) = peer.filter(|_| !was_known) {
            self.refusals.remove(&peer);
            self.dials.reached(peer);
            self.replace(place, peer, registry);
        }
        if let Err(cut) = went_on {
            self.cut(place, &cut, registry, hear);
        }
    }

    fn guests(&self) -> usize {
        self.links.iter().filter(|(_, link)| link.guest.is_some()).count()
    }

    /// Another connection of the same node is over; [`Hear::opened`] has taken this one in its place.
    fn replace(&mut self, place: usize, peer: NodeId, registry: &Registry) {
        let is_other = |(other, link): (usize, &Link)| (other != place && link.peer() == Some(peer)).then_some(other);
        let others: Vec<usize> = self.links.iter().filter_map(is_other).collect();
        for other in others {
            let mut link = self.links.remove(other);
            // A connection that is dropped is over, whatever the kernel says to this.
            let _ = link.stream.deregister(registry);
            self.count(Cut::Replaced.name());
        }
    }

    fn cut(&mut self, place: usize, cut: &Cut, registry: &Registry, hear: &mut impl Hear) {
        let mut link = self.links.remove(place);
        let _ = link.stream.deregister(registry);
        self.count(cut.name());
        let peer = link.peer().or(link.dialled);
        if let (Cut::RefusedByPeer { code, words }, Some(peer)) = (cut, peer) {
            self.refusals.insert(peer, words.clone());
            if FOLDER_CODES.contains(code) {
                self.refused.get_or_insert(MemberError::Refused { by: peer.value(), words: words.clone() });
            }
        }
        if let Some(peer) = link.peer() {
            hear.closed(peer);
        }
        if let Some(number) = link.guest.as_ref().and_then(|guest| guest.number) {
            hear.left(number);
        }
    }

    /// Ends the connections of nodes that do not belong to the cluster any more, and tells them.
    pub(crate) fn cut_who_is_out(&mut self, registry: &Registry, hear: &mut impl Hear) {
        let out: Vec<(usize, NodeId)> = self
            .links
            .iter()
            .filter_map(|(place, link)| Some((place, link.peer().filter(|peer| hear.is_out(*peer))?)))
            .collect();
        for (place, node) in out {
            let cut = self.links[place].refuse(&Refusal::Gone { node });
            self.cut(place, &cut, registry, hear);
        }
    }

    /// Makes connections that are due, ends those that have not said who they are.
    pub(crate) fn tick(&mut self, registry: &Registry, hear: &mut impl Hear, now: Instant) {
        let links = &self.links;
        let is_there = |node| links.iter().any(|(_, link)| link.peer() == Some(node) || link.dialled == Some(node));
        for (node, address) in self.dials.due(now, is_there) {
            match lapwing_transport::PeerStream::connect(address, &self.tls, Some(node.value())) {
                Ok(stream) => self.add(Link::new(stream, Some(node), now), registry),
                Err(_) => self.count("io"),
            }
        }
        let is_silent = |link: &Link| match link.peer() {
            None if link.guest.is_some() => now - link.begun > JOINING_MAX,
            None => now - link.begun > INTRODUCTION_MAX,
            // Who leads speaks, and who follows answers: a connection that is silent leads nowhere any more.
            Some(peer) => now - link.heard > SILENCE_MAX && hear.expects(peer),
        };
        let silent: Vec<usize> =
            self.links.iter().filter(|(_, link)| is_silent(link)).map(|(place, _)| place).collect();
        silent.into_iter().for_each(|place| self.cut(place, &Cut::Silent, registry, hear));
    }

    /// Sends what there is for each node.
    pub(crate) fn fill(&mut self, registry: &Registry, hear: &mut impl Hear) {
        let places: Vec<usize> = self.links.iter().map(|(place, _)| place).collect();
        for place in places {
            if let Err(cut) = self.links[place].fill(hear) {
                self.cut(place, &cut, registry, hear);
            }
        }
    }

    /// Why this node cannot be a member with the folder that it has, if another node has said so.
    pub(crate) fn take_refused(&mut self) -> Option<MemberError> {
        self.refused.take()
    }

    /// Connections that were cut, by reason.
    pub(crate) fn cuts(&self) -> &BTreeMap<&'static str, u64> {
        &self.cuts
    }

    /// What nodes have said that do not speak to this one.
    pub(crate) fn refusals(&self) -> &BTreeMap<NodeId, String> {
        &self.refusals
    }

    fn count(&mut self, reason: &'static str) {
        *self.cuts.entry(reason).or_default() += 1;
    }
}
