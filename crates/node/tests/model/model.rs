//! The broker as its specification has it: sessions, subscriptions, retained messages, and who is still owed what.

use std::collections::{BTreeMap, VecDeque};

use lapwing_codec::{PacketId, QoS, RetainHandling, SubscriptionOptions};

use crate::action::{TOPICS, WillSpec};
use crate::peer::Message;

/// A message as it was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    pub from: usize,
    pub topic: &'static str,
    pub payload: Vec<u8>,
    pub qos: QoS,
    pub retain: bool,
    pub tagged: bool,
}

/// A copy that a client is owed.
#[derive(Clone, Debug)]
pub struct Owed {
    pub message: Published,
    pub qos: QoS,
    pub retain: bool,
    pub ids: Vec<u32>,
    /// Because of a new subscription: in no order with others.
    pub replay: bool,
}

/// A copy that the client has and not finished.
#[derive(Clone, Debug)]
pub struct Flight {
    pub id: PacketId,
    pub owed: Owed,
    /// PUBREC was sent.
    pub released: bool,
    /// It came (again) on the current connection.
    pub here: bool,
    /// It came first on a connection of 5.0, so that its subscription identifiers were seen.
    pub ids_seen: bool,
}

/// A will as it waits.
#[derive(Clone, Debug)]
pub struct Will {
    pub spec: WillSpec,
    pub payload: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
pub struct Session {
    pub subscriptions: BTreeMap<&'static str, (SubscriptionOptions, Option<u32>)>,
    pub owed: VecDeque<Owed>,
    pub flights: Vec<Flight>,
    pub waiting_will: Option<Will>,
}

impl Session {
    /// Whether a copy that is owed before the one at `at` must come before it: per publisher, topic and QoS there is one
    /// order. Messages without a payload look alike, whoever published them, so they tell nothing.
    fn is_early(&self, at: usize) -> bool {
        let way = |owed: &Owed| (owed.message.from, owed.message.topic, owed.qos);
        let has_place = |owed: &Owed| !owed.replay && !owed.message.payload.is_empty();
        let Some(this) = self.owed.get(at).filter(|owed| has_place(owed)) else { return false };
        self.owed.iter().take(at).any(|other| has_place(other) && way(other) == way(this))
    }
}

#[derive(Default)]
pub struct Model {
    pub sessions: BTreeMap<usize, Session>,
    /// Clients with a connection: their windows, and whether it is of 5.0.
    pub online: BTreeMap<usize, (usize, bool)>,
    pub retained: BTreeMap<&'static str, Published>,
}

impl Model {
    /// Publishes; returns whether anybody was subscribed.
    pub fn publish(&mut self, message: &Published) -> bool {
        let mut any = false;
        for (client, session) in &mut self.sessions {
            let online = self.online.contains_key(client);
            any |= session.subscriptions.keys().any(|filter| matches(filter, message.topic));
            if let Some(owed) = plain(*client, session, message)
                && (online || owed.qos != QoS::AtMostOnce)
            {
                session.owed.push_back(owed);
            }
        }
        if message.retain {
            match message.payload.is_empty() {
                true => drop(self.retained.remove(message.topic)),
                false => drop(self.retained.insert(message.topic, message.clone())),
            }
        }
        any
    }

    /// Subscribes to one filter; what is retained is owed.
    pub fn subscribe(&mut self, client: usize, filter: &'static str, options: SubscriptionOptions, id: Option<u32>) {
        let Some(session) = self.sessions.get_mut(&client) else { return };
        let is_new = session.subscriptions.insert(filter, (options, id)).is_none();
        let wanted = match options.retain_handling {
            RetainHandling::Send => true,
            RetainHandling::SendIfNew => is_new,
            RetainHandling::DoNotSend => false,
        };
        if !wanted {
            return;
        }
        for message in self.retained.values().filter(|message| matches(filter, message.topic)) {
            if options.no_local && message.from == client {
                continue;
            }
            session.owed.push_back(Owed {
                message: message.clone(),
                qos: options.qos.min(message.qos),
                retain: true,
                ids: id.iter().copied().collect(),
                replay: true,
            });
        }
    }

    /// The connection is gone, the session stays.
    pub fn leaves(&mut self, client: usize) {
        self.online.remove(&client);
        if let Some(session) = self.sessions.get_mut(&client) {
            session.owed.retain(|owed| owed.qos != QoS::AtMostOnce);
        }
    }

    /// The session is gone; returns a will that had been waiting.
    pub fn ends(&mut self, client: usize) -> Option<Will> {
        self.online.remove(&client);
        self.sessions.remove(&client)?.waiting_will
    }

    /// A connection goes on with its session, or begins one.
    pub fn connects(&mut self, client: usize, window: usize, is_v5: bool) {
        self.online.insert(client, (window, is_v5));
        let session = self.sessions.entry(client).or_default();
        session.waiting_will = None;
        session.flights.iter_mut().for_each(|flight| flight.here = false);
    }

    /// A message came to `client`.
    pub fn came(&mut self, client: usize, message: &Message) -> Result<(), String> {
        let (window, is_v5) = self.online.get(&client).copied().unwrap_or_default();
        let Some(session) = self.sessions.get_mut(&client) else { return Err("there is no session".into()) };
        let under_way = session.flights.iter().filter(|flight| flight.here).count();
        if message.id.is_some() && under_way >= window {
            return Err(format!("it is beyond the Receive Maximum of {window}"));
        }
        if message.dup {
            let next = session.flights.iter_mut().find(|flight| !flight.here);
            let is_it = |flight: &&mut Flight| {
                // Of two copies that looked alike in 3.1.1 either may be this one.
                let ids = if flight.ids_seen { flight.owed.ids.clone() } else { message.ids.clone() };
                let owed = Owed { ids, ..flight.owed.clone() };
                Some(flight.id) == message.id && same(&owed, message, is_v5)
            };
            let flight = next.filter(is_it).ok_or("sent again, and not the next that had to be")?;
            if flight.released {
                return Err("sent again after PUBREC".into());
            }
            flight.here = true;
            return Ok(());
        }
        if message.id.is_some_and(|id| session.flights.iter().any(|flight| flight.id == id)) {
            return Err("its packet id is in use".into());
        }
        let owed = self.take(client, message, is_v5)?;
        let session = self.sessions.get_mut(&client).expect("it was there");
        if let Some(id) = message.id {
            session.flights.push(Flight { id, owed, released: false, here: true, ids_seen: is_v5 });
        }
        Ok(())
    }

    /// Finds what was owed and crosses it out.
    fn take(&mut self, client: usize, message: &Message, is_v5: bool) -> Result<Owed, String> {
        let session = self.sessions.get_mut(&client).expect("the caller has looked");
        let at = session.owed.iter().position(|owed| same(owed, message, is_v5));
        if let Some(at) = at.filter(|at| !session.is_early(*at)) {
            return Ok(session.owed.remove(at).expect("it was found there"));
        }
        Err(match at {
            Some(_) => "one that was published before it has not come yet".to_owned(),
            None => "nobody owes it".to_owned(),
        })
    }

    /// What must still come, now; `None`: nothing.
    pub fn missing(&self) -> Option<String> {
        let free = |client: &usize| {
            let (Some((window, _)), Some(session)) = (self.online.get(client), self.sessions.get(client)) else {
                return false;
            };
            session.flights.iter().filter(|flight| flight.here).count() < *window
        };
        for client in self.online.keys() {
            let Some(session) = self.sessions.get(client) else { continue };
            let again = session.flights.iter().find(|flight| !flight.here);
            if let Some(flight) = again.filter(|_| free(client)) {
                return Some(format!("client {client} is not sent again {flight:?}"));
            }
            let due = |owed: &&Owed| owed.qos == QoS::AtMostOnce || again.is_none() && free(client);
            if let Some(owed) = session.owed.iter().find(due) {
                return Some(format!("client {client} is not sent {owed:?}"));
            }
        }
        None
    }

    /// The will as it would be published.
    pub fn will(client: usize, will: &Will) -> Published {
        let WillSpec { topic, qos, retain, .. } = will.spec;
        Published { from: client, topic: TOPICS[topic], payload: will.payload.clone(), qos, retain, tagged: false }
    }
}

/// What a session's plain subscriptions, taken together, make of a message.
fn plain(client: usize, session: &Session, message: &Published) -> Option<Owed> {
    let mut found: Option<Owed> = None;
    for (filter, (options, id)) in &session.subscriptions {
        let is_own = options.no_local && message.from == client;
        if is_own || !matches(filter, message.topic) {
            continue;
        }
        let owed = found.get_or_insert_with(|| Owed {
            message: message.clone(),
            qos: QoS::AtMostOnce,
            retain: false,
            ids: Vec::new(),
            replay: false,
        });
        owed.qos = owed.qos.max(options.qos.min(message.qos));
        owed.retain |= options.retain_as_published && message.retain;
        owed.ids.extend(id);
        owed.ids.sort_unstable();
    }
    found
}

fn same(owed: &Owed, message: &Message, is_v5: bool) -> bool {
    let ids: &[u32] = if is_v5 { &owed.ids } else { &[] };
    owed.message.topic == message.topic
        && owed.message.payload == message.payload
        && owed.qos == message.qos
        && owed.retain == message.retain
        && ids == message.ids
        && (owed.message.tagged && is_v5) == message.tagged
}

/// Section 4.7, word by word.
fn matches(filter: &str, topic: &str) -> bool {
    if topic.starts_with('$') && filter.starts_with(['+', '#']) {
        return false;
    }
    let (filter, topic): (Vec<&str>, Vec<&str>) = (filter.split('/').collect(), topic.split('/').collect());
    for (at, level) in filter.iter().enumerate() {
        match (*level, topic.get(at)) {
            ("#", _) => return true,
            ("+", Some(_)) => {}
            (level, Some(other)) if level == *other => {}
            _ => return false,
        }
    }
    filter.len() == topic.len()
}
