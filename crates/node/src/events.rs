//! What clients do, as messages of the node's own: `$lapwing/events/KIND/CLIENT`, a JSON object each.
//!
//! Rules:
//! - Pure: what has happened in, topic and payload out. Shards publish what is theirs, see `shard/operators/events.rs`.
//! - The level of the client is its id with `_` for what would make more of it than one level, or a filter. The payload has the
//!   id as it is.
//! - Nothing of a payload, a password or a certificate is in an event, and no token, whatever somebody gave it for: a user
//!   name, a client id, a topic.

use std::collections::VecDeque;

use lapwing_codec::{Publish, ReasonCode};
use serde_json::{Value, json};

use crate::config::EventsConfig;
use crate::hooks::HookClient;
use crate::secrets::{without_secrets, without_secrets_in};

/// What stands before every topic here.
const ROOT: &str = "$lapwing/events/";
/// Client ids of more bytes leave too little room in a topic.
const CLIENT_BYTES_MAX: usize = 65_000;

/// What a client has done, or what was done to it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happened<'a> {
    /// It has a session, with its CONNACK.
    Connected { session_present: bool },
    /// Its connection is over. `reason`: `None` when it broke without a word. `published`: its messages on this connection.
    Disconnected { reason: Option<ReasonCode>, published: u64 },
    /// It was granted a filter.
    Subscribed { filter: &'a str, qos: u8 },
    /// It has given one up.
    Unsubscribed { filter: &'a str },
    /// A message of it, or its will, was routed.
    Published(&'a Publish<'a>),
    /// Its CONNECT was refused. What it says of itself is not proved.
    Refused { reason: ReasonCode, claimed: Option<&'a str>, listener: &'a str },
    /// It may not do something (`what`: "publish", "subscribe") with a topic or filter.
    Forbidden { what: &'static str, topic: &'a str },
}

/// One message to publish.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) topic: String,
    pub(crate) payload: String,
}

impl Event {
    /// `at_us`: microseconds since the epoch.
    pub(crate) fn of(client: &HookClient, happened: &Happened<'_>, at_us: i64) -> Self {
        let (kind, mut fields) = happened.told();
        fields["event"] = kind.into();
        fields["at_us"] = at_us.into();
        fields["client_id"] = Value::from(&*client.client_id);
        fields["username"] = client.identity.as_deref().into();
        fields["address"] = Some(client.address.as_str()).filter(|address| !address.is_empty()).into();
        fields["protocol"] = Some(client.version).filter(|version| *version > 0).into();
        let topic = [ROOT, kind, "/", &level(&without_secrets(&client.client_id))].concat();
        Event { topic, payload: without_secrets_in(fields).to_string() }
    }

    /// Bytes that it costs to keep.
    fn footprint(&self) -> u64 {
        (size_of::<Event>() + self.topic.len() + self.payload.len()) as u64
    }
}

impl Happened<'_> {
    fn told(&self) -> (&'static str, Value) {
        match *self {
            Happened::Connected { session_present } => ("connected", json!({"session_present": session_present})),
            Happened::Disconnected { reason, published } => {
                let (code, name) = (reason.map(|reason| reason as u8), reason.map(ReasonCode::name));
                ("disconnected", json!({"reason_code": code, "reason": name, "published": published}))
            }
            Happened::Subscribed { filter, qos } => ("subscribed", json!({"filter": filter, "qos": qos})),
            Happened::Unsubscribed { filter } => ("unsubscribed", json!({"filter": filter})),
            Happened::Refused { reason, claimed, listener } => {
                let (code, name) = (reason as u8, reason.name());
                let fields =
                    json!({"reason_code": code, "reason": name, "claimed_username": claimed, "listener": listener});
                ("refused", fields)
            }
            Happened::Forbidden { what, topic } => ("forbidden", json!({"what": what, "topic": topic})),
            Happened::Published(publish) => {
                let (topic, qos, bytes) = (publish.topic, publish.qos as u8, publish.payload.len());
                ("published", json!({"topic": topic, "qos": qos, "retain": publish.retain, "bytes": bytes}))
            }
        }
    }
}

/// A client id as one level of a topic.
fn level(client_id: &str) -> String {
    if client_id.len() > CLIENT_BYTES_MAX {
        return "_".to_owned();
    }
    client_id.replace(['/', '+', '#'], "_")
}

/// Events of one shard that wait to be published.
#[derive(Debug)]
pub(crate) struct EventQueue {
    clients: bool,
    published: bool,
    refused: bool,
    waiting: VecDeque<Event>,
    bytes: u64,
    events_max: usize,
    bytes_max: u64,
}

impl EventQueue {
    /// A queue with one of `shards` shares of what may wait.
    pub(crate) fn new(config: &EventsConfig, shards: u32) -> Self {
        EventQueue {
            clients: config.clients,
            published: config.published,
            refused: config.refused,
            waiting: VecDeque::new(),
            bytes: 0,
            events_max: config.queue.div_ceil(shards) as usize,
            bytes_max: config.queue_bytes.div_ceil(u64::from(shards)),
        }
    }

    /// Whether anything is published at all.
    pub(crate) const fn is_on(&self) -> bool {
        self.clients || self.published || self.refused
    }

    /// Whether this is.
    pub(crate) const fn wants(&self, happened: &Happened<'_>) -> bool {
        match happened {
            Happened::Published(_) => self.published,
            Happened::Refused { .. } | Happened::Forbidden { .. } => self.refused,
            _ => self.clients,
        }
    }

    /// Adds an event behind all others; false when there is no room for it.
    pub(crate) fn add(&mut self, event: Event) -> bool {
        let bytes = event.footprint();
        let fits = self.waiting.len() < self.events_max && self.bytes + bytes <= self.bytes_max;
        if fits {
            self.bytes += bytes;
            self.waiting.push_back(event);
        }
        fits
    }

    /// Takes out the one that has waited longest.
    pub(crate) fn take(&mut self) -> Option<Event> {
        let event = self.waiting.pop_front()?;
        self.bytes -= event.footprint();
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
        Some(event)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(client_id: &str) -> HookClient {
        let address = "192.0.2.1:5000".to_owned();
        HookClient { client_id: client_id.into(), identity: Some("alice".into()), address, version: 5 }
    }

    fn fields(happened: &Happened<'_>) -> Value {
        serde_json::from_str(&Event::of(&client("c"), happened, 7).payload).unwrap()
    }

    /// Does each event say who, when, and what is its own?
    #[test]
    fn events_say_what_happened() {
        let publish = Publish { retain: true, ..Publish::qos0("a/b", b"secret") };
        let taken_over = ReasonCode::SessionTakenOver;
        for (happened, own) in [
            (Happened::Connected { session_present: true }, json!({"event": "connected", "session_present": true})),
            (
                Happened::Disconnected { reason: Some(taken_over), published: 3 },
                json!({"event": "disconnected", "reason_code": 0x8E, "reason": taken_over.name(), "published": 3}),
            ),
            (
                Happened::Refused { reason: taken_over, claimed: Some("eve"), listener: "tcp://[::]:1883" },
                json!({"event": "refused", "reason_code": 0x8E, "reason": taken_over.name(), "claimed_username": "eve",
                       "listener": "tcp://[::]:1883"}),
            ),
            (
                Happened::Forbidden { what: "publish", topic: "a\nb" },
                json!({"event": "forbidden", "what": "publish", "topic": "a\nb"}),
            ),
            (
                Happened::Disconnected { reason: None, published: 0 },
                json!({"event": "disconnected", "reason_code": null, "reason": null, "published": 0}),
            ),
            (Happened::Subscribed { filter: "a/#", qos: 1 }, json!({"event": "subscribed", "filter": "a/#", "qos": 1})),
            (Happened::Unsubscribed { filter: "a/#" }, json!({"event": "unsubscribed", "filter": "a/#"})),
            (
                Happened::Published(&publish),
                json!({"event": "published", "topic": "a/b", "qos": 0, "retain": true, "bytes": 6}),
            ),
        ] {
            let mut expected = json!({
                "at_us": 7, "client_id": "c", "username": "alice", "address": "192.0.2.1:5000", "protocol": 5,
            });
            own.as_object().unwrap().iter().for_each(|(key, value)| expected[key] = value.clone());
            assert_eq!(fields(&happened), expected);
        }
    }

    /// Is a token that somebody gives for a name, an id or a topic in no event, and not in the topic of one?
    #[test]
    fn no_event_has_a_token() {
        let (token, jwt) = ("lapwing_0123456789abcdefghij", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmVk");
        let bearer = format!("Bearer {jwt}");
        let reason = ReasonCode::BadUserNameOrPassword;
        for happened in [
            Happened::Refused { reason, claimed: Some(token), listener: "tcp://[::]:1883" },
            Happened::Refused { reason, claimed: Some(&bearer), listener: "tcp://[::]:1883" },
            Happened::Forbidden { what: "publish", topic: &format!("a/{token}/{jwt}") },
            Happened::Published(&Publish::qos0(&format!("a/{token}"), b"")),
        ] {
            for client_id in [token, jwt] {
                let event = Event::of(&client(client_id), &happened, 0);
                for shown in [&event.topic, &event.payload] {
                    assert!(
                        shown.contains("***") && !shown.contains("0123456789") && !shown.contains("eyJ"),
                        "{shown}"
                    );
                }
            }
        }
    }

    /// Is the client one level of a topic that clients cannot publish to, whatever its id is?
    #[test]
    fn a_client_is_one_level() {
        for (client_id, level) in [("d1", "d1"), ("a/+/#", "a____"), (&*"x".repeat(65_535), "_")] {
            let event = Event::of(&client(client_id), &Happened::Unsubscribed { filter: "f" }, 0);
            assert_eq!(event.topic, format!("$lapwing/events/unsubscribed/{level}"));
            assert!(lapwing_access::is_reserved(&event.topic));
            assert_eq!(serde_json::from_str::<Value>(&event.payload).unwrap()["client_id"], client_id);
        }
    }

    /// Is the queue bounded by events and by bytes, and empty again when all were taken?
    #[test]
    fn the_queue_is_bounded() {
        let event = || Event { topic: "t".into(), payload: "p".repeat(99) };
        let each = event().footprint();
        for (queue, queue_bytes, fits) in [(3, 1 << 20, 3), (100, 2 * each, 2), (4, each, 1)] {
            let config = EventsConfig { clients: true, queue, queue_bytes, ..EventsConfig::default() };
            let mut waiting = EventQueue::new(&config, 1);
            for _ in 0..2 {
                assert_eq!((0..5).filter(|_| waiting.add(event())).count(), fits);
                assert_eq!(std::iter::from_fn(|| waiting.take()).count(), fits);
                assert!(waiting.is_empty() && waiting.bytes == 0);
            }
        }
        let half = EventQueue::new(&EventsConfig { queue: 5, ..EventsConfig::default() }, 2);
        assert!((half.events_max, half.is_on()) == (3, false));
    }
}
