//! A session with a recording connection: packets in as values, packets out decoded.

use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::{
    Ack, Connect, ConnectProperties, Limits, Packet, PacketId, Publish, PublishProperties, QoS, ReasonCode,
    SubscribeFiltersBuf, SubscribeProperties, SubscriptionId, SubscriptionOptions, UnsubscribeFiltersBuf,
    UserProperties, Version, decode,
};
use lapwing_session::{
    Accepted, Admission, Close, CommitToken, Counters, Delivered, Departure, Fact, Grant, Inbound, Io, Message, Opened,
    ReadEntry, Receipt, Reply, Routed, Session, SessionKey, Settings, Step, Tick,
};

/// The key of every session under test; messages of others come from [`OTHER`].
pub const ME: SessionKey = SessionKey(1);
pub const OTHER: SessionKey = SessionKey(2);

/// One client id, its session and the bytes its connection was sent.
pub struct Rig {
    pub session: Option<Session>,
    pub settings: Arc<Settings>,
    pub out: Vec<u8>,
    pub counters: Counters,
    pub version: Version,
    pub now_ms: u64,
    /// Set: what waits for a kept session stays in the log.
    pub at_hand_bytes_max: Option<u64>,
}

pub fn id(id: u16) -> PacketId {
    PacketId::new(id).expect("tests use ids from 1")
}

pub fn connect(version: Version) -> Connect<'static> {
    Connect {
        version,
        is_bridge: false,
        clean_start: true,
        keep_alive_s: 0,
        client_id: "me",
        will: None,
        username: None,
        password: None,
        properties: ConnectProperties::default(),
    }
}

/// A CONNECT whose session stays: for ten minutes in 5.0.
pub fn connect_persistent(version: Version) -> Connect<'static> {
    let session_expiry_s = if version == Version::V5 { 600 } else { 0 };
    let properties = ConnectProperties { session_expiry_s, ..ConnectProperties::default() };
    Connect { clean_start: false, properties, ..connect(version) }
}

pub fn publish(topic: &'static str, qos: QoS, packet_id: u16) -> Publish<'static> {
    Publish {
        dup: false,
        qos,
        retain: false,
        topic,
        packet_id: PacketId::new(packet_id),
        properties: PublishProperties::default(),
        payload: b"payload",
    }
}

pub fn entry(entry: u64) -> NonZeroU64 {
    NonZeroU64::new(entry).expect("tests use entries from 1")
}

pub fn grant(qos: QoS) -> Grant {
    Grant { options: SubscriptionOptions::new(qos), subscription_id: None }
}

pub fn grant_with_id(qos: QoS, subscription_id: u32) -> Grant {
    Grant { subscription_id: SubscriptionId::new(subscription_id), ..grant(qos) }
}

impl Rig {
    pub fn new(settings: Settings) -> Self {
        Rig {
            session: None,
            settings: Arc::new(settings),
            out: Vec::new(),
            counters: Counters::default(),
            version: Version::V5,
            now_ms: 1_000_000,
            at_hand_bytes_max: None,
        }
    }

    /// Connected with `connect`, the CONNACK already read.
    pub fn connected(connect: &Connect<'_>, settings: Settings) -> Self {
        let mut rig = Rig::new(settings);
        rig.connect(connect);
        rig.out.clear();
        rig
    }

    pub fn v5() -> Self {
        Rig::connected(&connect(Version::V5), Settings::default())
    }

    pub fn v311() -> Self {
        Rig::connected(&connect(Version::V311), Settings::default())
    }

    /// Opens a connection; returns whether a session was present, and the session that was discarded.
    pub fn connect(&mut self, connect: &Connect<'_>) -> (bool, Option<Session>) {
        let admission = Admission::new(connect.client_id, connect.client_id.is_empty());
        self.version = connect.version;
        self.out.clear();
        let mut io = Io { at_hand_bytes_max: self.at_hand_bytes_max, ..Io::new(&mut self.out, &mut self.counters) };
        let existing = self.session.take();
        let Opened { session, session_present, discarded } =
            Session::open(connect, &admission, ME, &self.settings, existing, self.now_ms, &mut io);
        self.session = Some(session);
        (session_present, discarded)
    }

    pub fn session(&mut self) -> &mut Session {
        self.session.as_mut().expect("the test has connected")
    }

    /// The session and its outside, borrowed apart.
    pub fn parts(&mut self) -> (&mut Session, Io<'_>) {
        let io = Io { at_hand_bytes_max: self.at_hand_bytes_max, ..Io::new(&mut self.out, &mut self.counters) };
        (self.session.as_mut().expect("the test has connected"), io)
    }

    pub fn handle<'p>(&mut self, packet: &'p Packet<'p>) -> Result<Step<'p>, Close> {
        let now_ms = self.now_ms;
        let (session, mut io) = self.parts();
        session.handle(packet, now_ms, &mut io)
    }

    /// Handles a packet that nobody else has to do with.
    pub fn done(&mut self, packet: Packet<'_>) {
        let step = self.handle(&packet);
        assert!(matches!(step, Ok(Step::Done)), "{packet:?} -> {step:?}");
    }

    /// Handles a PUBLISH that is to be routed.
    pub fn inbound<'p>(&mut self, packet: &'p Packet<'p>) -> Inbound<'p> {
        match self.handle(packet) {
            Ok(Step::Publish(inbound)) => inbound,
            step => panic!("{packet:?} -> {step:?}"),
        }
    }

    pub fn accept(&mut self, receipt: Receipt, accepted: Accepted) {
        let (session, mut io) = self.parts();
        session.accept(receipt, accepted, &mut io);
    }

    pub fn refuse(&mut self, receipt: Receipt, reason: ReasonCode, words: Option<&str>) {
        let (session, mut io) = self.parts();
        session.refuse(receipt, reason, words, &mut io);
    }

    /// Handles a PUBLISH and says what became of it.
    pub fn published(&mut self, publish: Publish<'_>, accepted: Accepted) {
        let receipt = self.inbound(&Packet::Publish(publish)).receipt;
        self.accept(receipt, accepted);
    }

    pub fn committed(&mut self, through: u64) {
        let (session, mut io) = self.parts();
        session.committed(CommitToken(through), &mut io);
    }

    /// SUBSCRIBEs with packet id 1; returns the reply before it is sent and calls `apply` as the node would.
    pub fn subscribe(
        &mut self,
        filters: &[(&str, SubscriptionOptions)],
        apply: impl FnMut(&lapwing_session::Subscription<'_>) -> Result<(), lapwing_codec::ReasonCode>,
    ) -> Result<Reply, Close> {
        let mut buf = SubscribeFiltersBuf::new();
        filters.iter().for_each(|(filter, options)| buf.push(filter, *options).expect("short"));
        let properties = SubscribeProperties::default();
        let packet = lapwing_codec::Subscribe { packet_id: id(1), properties, filters: buf.as_ref() };
        let packet = Packet::Subscribe(packet);
        match self.handle(&packet)? {
            Step::Subscribe(request) => Ok(self.session().subscribe(&request, apply)),
            step => panic!("SUBSCRIBE -> {step:?}"),
        }
    }

    pub fn unsubscribe(&mut self, filters: &[&str]) -> (Reply, Vec<String>) {
        let mut buf = UnsubscribeFiltersBuf::new();
        filters.iter().for_each(|filter| buf.push(filter).expect("short"));
        let packet = Packet::Unsubscribe(lapwing_codec::Unsubscribe {
            packet_id: id(2),
            user: UserProperties::EMPTY,
            filters: buf.as_ref(),
        });
        let Ok(Step::Unsubscribe(request)) = self.handle(&packet) else { panic!("UNSUBSCRIBE") };
        let mut removed = Vec::new();
        let reply = self.session().unsubscribe(&request, |subscription| removed.push(subscription.filter.to_owned()));
        (reply, removed)
    }

    pub fn reply(&mut self, reply: Reply) -> Result<(), Close> {
        let (session, mut io) = self.parts();
        session.reply(reply, &mut io)
    }

    /// Delivers a message of another client.
    pub fn deliver(&mut self, publish: Publish<'_>, grants: &[Grant]) -> Delivered {
        let routed = Routed::new(publish, OTHER, self.now_ms);
        self.deliver_routed(&routed, grants)
    }

    pub fn deliver_times(&mut self, times: usize, publish: Publish<'_>, grants: &[Grant]) {
        (0..times).for_each(|_| assert_ne!(self.deliver(publish, grants), Delivered::NotLocal));
    }

    pub fn deliver_routed(&mut self, routed: &Routed<'_>, grants: &[Grant]) -> Delivered {
        let now_ms = self.now_ms;
        let (session, mut io) = self.parts();
        session.deliver(routed, grants.iter(), None, now_ms, &mut io)
    }

    /// Delivers a message of another client that is logged under `entry` if the session keeps it.
    pub fn deliver_entry(&mut self, publish: Publish<'_>, grants: &[Grant], entry: u64) -> Delivered {
        let routed = Routed::new(publish, OTHER, self.now_ms);
        let now_ms = self.now_ms;
        let (session, mut io) = self.parts();
        session.deliver(&routed, grants.iter(), NonZeroU64::new(entry), now_ms, &mut io)
    }

    /// The facts since the last call.
    pub fn facts(&mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.session().take_facts(&mut facts);
        assert!(!self.session().has_facts());
        facts
    }

    pub fn pump(&mut self) {
        let now_ms = self.now_ms;
        let (session, mut io) = self.parts();
        session.pump(now_ms, &mut io);
    }

    pub fn tick(&mut self) -> Tick {
        let now_ms = self.now_ms;
        let (session, mut io) = self.parts();
        session.tick(now_ms, &mut io)
    }

    pub fn disconnected(&mut self) -> Departure {
        let now_ms = self.now_ms;
        let departure = self.session().disconnected(now_ms);
        if self.at_hand_bytes_max.is_some() {
            self.session().page_out();
        }
        departure
    }

    /// Hands in a page: messages that have just come, and their entries.
    pub fn take_page(&mut self, page: Vec<(NonZeroU64, Option<Arc<Message>>)>) {
        let since_ms = self.now_ms;
        self.take_entries(page.into_iter().map(|(entry, message)| ReadEntry { entry, message, since_ms }).collect());
    }

    /// Hands in a page.
    pub fn take_entries(&mut self, page: Vec<ReadEntry>) {
        let now_ms = self.now_ms;
        let (session, mut io) = self.parts();
        session.take_page(page, now_ms, &mut io);
    }

    /// The connection breaks and the same CONNECT comes again; asserts that the session was present.
    pub fn reconnect(&mut self, connect: &Connect<'_>) -> Vec<String> {
        assert!(!self.disconnected().ended, "the session should stay");
        assert!(self.connect(connect).0, "the session should be present");
        self.sent()
    }

    /// What was sent since the last call, one word per packet; see [`describe`].
    pub fn sent(&mut self) -> Vec<String> {
        let out = std::mem::take(&mut self.out);
        let version = self.version;
        packets(&out, version, |packet| describe(&packet))
    }

    /// The one packet that was sent since the last call, for a closer look.
    pub fn sent_one<T>(&mut self, look: impl Fn(Packet<'_>) -> T) -> T {
        let out = std::mem::take(&mut self.out);
        let mut all = packets(&out, self.version, look);
        assert_eq!(all.len(), 1, "one packet should have been sent");
        all.remove(0)
    }
}

/// Decodes everything in `bytes`.
pub fn packets<T>(mut bytes: &[u8], version: Version, look: impl Fn(Packet<'_>) -> T) -> Vec<T> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let (packet, len) = decode(bytes, version, &Limits::PROTOCOL).expect("valid bytes").expect("whole packets");
        all.push(look(packet));
        bytes = &bytes[len..];
    }
    all
}

/// A packet in a few characters: `publish(2,7,dup)` = QoS 2, packet id 7.
pub fn describe(packet: &Packet<'_>) -> String {
    let ack = |name: &str, ack: &Ack<'_>| match ack.reason as u8 {
        0 => format!("{name}({})", ack.packet_id),
        reason => format!("{name}({},{reason:#04x})", ack.packet_id),
    };
    match packet {
        Packet::ConnAck(connack) => format!("connack({:#04x},{})", connack.reason as u8, connack.session_present),
        Packet::Publish(publish) => {
            let id = publish.packet_id.map_or(0, PacketId::get);
            format!("publish({},{id}{})", publish.qos as u8, if publish.dup { ",dup" } else { "" })
        }
        Packet::PubAck(it) => ack("puback", it),
        Packet::PubRec(it) => ack("pubrec", it),
        Packet::PubRel(it) => ack("pubrel", it),
        Packet::PubComp(it) => ack("pubcomp", it),
        Packet::SubAck(suback) => format!("suback({:?})", suback.reasons.iter().map(|r| *r as u8).collect::<Vec<_>>()),
        Packet::UnsubAck(unsuback) => {
            format!("unsuback({:?})", unsuback.reasons.iter().map(|r| *r as u8).collect::<Vec<_>>())
        }
        Packet::PingResp => "pingresp".to_owned(),
        Packet::Disconnect(disconnect) => format!("disconnect({:#04x})", disconnect.reason as u8),
        other => format!("{other:?}"),
    }
}
