//! A run: actions against a node in this process, step by step, each compared with the model.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use lapwing_codec::{Ack, Packet, PacketId, QoS, ReasonCode, Version};
use lapwing_node::Handle;

use crate::action::{Action, CLIENTS};
use crate::model::{Model, Will};
use crate::peer::{Heard, Message, Peer};
use crate::witness::Witness;

/// The longest that anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// One client id.
#[derive(Default)]
pub struct Client {
    pub peer: Option<Peer>,
    /// What came and is no message.
    pub answers: VecDeque<Heard>,
    pub will: Option<Will>,
    /// The session outlives the connection.
    pub lasting: bool,
    pub withholding: bool,
    /// PUBRELs that are not answered before they come again, or the client is told to.
    pub held: BTreeSet<PacketId>,
    pub aliases: BTreeMap<u16, usize>,
}

pub struct Run {
    pub url: String,
    pub clients: Vec<Client>,
    pub model: Model,
    witnesses: Vec<Witness>,
    /// Numbers the messages.
    pub n: u32,
    pub packet_id: u16,
    /// Counts what came and was answered: each may bring more.
    progress: u64,
}

/// Runs `actions`; the error names the step.
pub fn run(shards: u32, limits: &str, actions: &[Action]) -> Result<(), (usize, String)> {
    let node = crate::node(shards, limits);
    let mut run = Run::new(&node, shards).map_err(|error| (0, error))?;
    for (step, action) in actions.iter().enumerate() {
        run.act(action).and_then(|()| run.settle()).map_err(|error| (step, error))?;
    }
    drop(run);
    node.stop().map_err(|error| (actions.len(), format!("the node: {error}")))
}

impl Run {
    fn new(node: &Handle, shards: u32) -> Result<Run, String> {
        let url = node.listeners()[0].clone();
        let clients = (0..CLIENTS).map(|_| Client::default()).collect();
        let mut run =
            Run { url, clients, model: Model::default(), witnesses: Vec::new(), n: 0, packet_id: 0, progress: 0 };
        for shard in 0..shards as usize {
            run.witnesses.push(Witness::open(&run.url, shard, shards)?);
        }
        run.gather(0, 1)?;
        Ok(run)
    }

    /// The name of a client.
    pub fn name(client: usize) -> String {
        format!("c{client}")
    }

    pub fn is_online(&self, client: usize) -> bool {
        self.clients[client].peer.is_some()
    }

    /// The version of a connected client.
    pub fn version(&self, client: usize) -> Version {
        self.clients[client].peer.as_ref().map_or(Version::V5, |peer| peer.version)
    }

    pub fn send(&mut self, client: usize, packet: &Packet<'_>) -> Result<(), String> {
        match &mut self.clients[client].peer {
            Some(peer) => peer.send(packet),
            None => Err(format!("client {client} is not connected")),
        }
    }

    pub fn next_packet_id(&mut self) -> PacketId {
        self.packet_id = self.packet_id % 60_000 + 1;
        PacketId::new(self.packet_id).unwrap_or(PacketId::MIN)
    }

    /// The next answer to `client`, which must be what `take` wants.
    pub fn answer<T>(&mut self, client: usize, what: &str, take: impl Fn(&Heard) -> Option<T>) -> Result<T, String> {
        let begun = Instant::now();
        loop {
            self.listen()?;
            if let Some(heard) = self.clients[client].answers.pop_front() {
                return take(&heard).ok_or_else(|| format!("client {client} expects {what} and hears {heard:?}"));
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("client {client} waits for {what} in vain"));
            }
            std::thread::yield_now();
        }
    }

    /// A connection must end, with a DISCONNECT if there is a reason and the version has a way to say it.
    pub fn expect_end(&mut self, client: usize, mut former: Peer, reason: Option<ReasonCode>) -> Result<(), String> {
        let said = reason.filter(|_| former.version.has_properties()).map(Heard::Disconnect);
        let expected: Vec<Heard> = said.into_iter().chain([Heard::End]).collect();
        let begun = Instant::now();
        loop {
            former.poll()?;
            self.listen()?;
            if former.heard == expected {
                return Ok(());
            }
            if former.heard.len() >= expected.len() || begun.elapsed() > PATIENCE {
                return Err(format!("client {client} expects {expected:?} and hears {:?}", former.heard));
            }
            std::thread::yield_now();
        }
    }

    /// Takes what every client was sent.
    pub fn listen(&mut self) -> Result<(), String> {
        for client in 0..CLIENTS {
            let Some(peer) = &mut self.clients[client].peer else { continue };
            peer.poll()?;
            for heard in std::mem::take(&mut peer.heard) {
                match heard {
                    Heard::Message(message) => self.message(client, &message)?,
                    Heard::PubRel(id) => self.release(client, id)?,
                    other => self.clients[client].answers.push_back(other),
                }
            }
        }
        Ok(())
    }

    fn message(&mut self, client: usize, message: &Message) -> Result<(), String> {
        self.progress += 1;
        self.model.came(client, message).map_err(|what| format!("client {client} is sent {message:?}: {what}"))?;
        match message.id {
            Some(id) if !self.clients[client].withholding => self.acknowledge(client, id, false),
            _ => Ok(()),
        }
    }

    /// Acknowledges one message that the client has; `half`: QoS 2 as far as PUBREC.
    pub fn acknowledge(&mut self, client: usize, id: PacketId, half: bool) -> Result<(), String> {
        let Some(session) = self.model.sessions.get_mut(&client) else { return Ok(()) };
        let Some(at) = session.flights.iter().position(|flight| flight.id == id) else { return Ok(()) };
        if session.flights[at].owed.qos == QoS::AtLeastOnce {
            session.flights.remove(at);
            return self.send(client, &Packet::PubAck(Ack::new(id, ReasonCode::Success)));
        }
        session.flights[at].released = true;
        if half {
            self.clients[client].held.insert(id);
        }
        self.send(client, &Packet::PubRec(Ack::new(id, ReasonCode::Success)))
    }

    /// PUBREL: the answer to PUBREC, or what is left of the message on a new connection.
    fn release(&mut self, client: usize, id: PacketId) -> Result<(), String> {
        self.progress += 1;
        let session = self.model.sessions.get_mut(&client);
        let flight = session.and_then(|session| session.flights.iter_mut().find(|flight| flight.id == id));
        let Some(flight) = flight.filter(|flight| flight.released) else {
            return Err(format!("client {client} is sent PUBREL {id}, and has sent no PUBREC"));
        };
        let again = !flight.here;
        flight.here = true;
        if self.clients[client].held.contains(&id) && !again {
            return Ok(());
        }
        self.complete(client, id)
    }

    /// PUBCOMP.
    pub fn complete(&mut self, client: usize, id: PacketId) -> Result<(), String> {
        self.clients[client].held.remove(&id);
        if let Some(session) = self.model.sessions.get_mut(&client) {
            session.flights.retain(|flight| flight.id != id);
        }
        self.send(client, &Packet::PubComp(Ack::new(id, ReasonCode::Success)))
    }

    /// Waits until everything has come that must; more than that is an error, now or at a later step.
    fn settle(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            let before = self.progress;
            self.fence()?;
            self.ping_all()?;
            let missing = self.model.missing();
            // What came made room for more: once more round.
            if missing.is_none() && self.progress == before {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(missing.unwrap_or_else(|| "messages come without an end".into()));
            }
        }
    }

    /// Every shard has handled what another had sent it when this began.
    fn fence(&mut self) -> Result<(), String> {
        let shards = self.witnesses.len();
        for witness in &mut self.witnesses {
            witness.subscribe()?;
        }
        self.gather(0, 1)?;
        for witness in &mut self.witnesses {
            witness.publish()?;
        }
        self.gather(Witness::messages_of_round(shards), 0)
    }

    /// Waits until each witness has heard so many messages and answers.
    fn gather(&mut self, messages: usize, answers: usize) -> Result<(), String> {
        let begun = Instant::now();
        let mut heard = vec![(0, 0); self.witnesses.len()];
        while heard.iter().any(|counts| *counts != (messages, answers)) {
            for (witness, counts) in self.witnesses.iter_mut().zip(&mut heard) {
                witness.peer.poll()?;
                let more = witness.count()?;
                *counts = (counts.0 + more.0, counts.1 + more.1);
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("the witnesses heard {heard:?} instead of {:?}", (messages, answers)));
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    fn ping_all(&mut self) -> Result<(), String> {
        let online: Vec<usize> = (0..CLIENTS).filter(|client| self.is_online(*client)).collect();
        for client in &online {
            self.send(*client, &Packet::PingReq)?;
        }
        for client in online {
            self.answer(client, "PINGRESP", |heard| (*heard == Heard::Pong).then_some(()))?;
        }
        Ok(())
    }
}
