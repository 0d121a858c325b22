//! A device that speaks MQTT-SN over UDP, and says exactly what it is told to; but PINGRESP to a PINGREQ, while it hears.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use lapwing_node::Handle;
use lapwing_sn::{
    Connect, Disconnect, Kind, Limits, Message, MsgId, PingReq, Publish, PublishQoS, PublishTopic, QoS, Register,
    ReturnCode, ShortTopic, SubAck, Subscribe, SubscribeTopic, TopicAck, TopicId, decode,
};

/// One device at one address.
pub struct Device {
    socket: UdpSocket,
    gateway: SocketAddr,
}

pub fn msg_id(id: u16) -> MsgId {
    MsgId::new(id).expect("not zero")
}

pub fn topic_id(id: u16) -> TopicId {
    TopicId::new(id).expect("an id")
}

/// A PUBLISH to a topic id that was registered.
pub fn publish(topic: TopicId, qos: QoS, id: u16, payload: &[u8]) -> Publish<'_> {
    let msg_id = qos.is_acknowledged().then(|| msg_id(id));
    let topic = PublishTopic::Registered(topic);
    Publish { dup: false, qos: PublishQoS::Level(qos), retain: false, topic, msg_id, payload }
}

pub fn short(name: &str) -> PublishTopic {
    PublishTopic::Short(ShortTopic::new(name).expect("two bytes"))
}

/// The first `sn://` listener of a node.
pub fn sn_url(node: &Handle) -> String {
    node.listeners().into_iter().find(|url| url.starts_with("sn://")).expect("the node has one")
}

impl Device {
    pub fn new(node: &Handle) -> Device {
        Device::at(&sn_url(node))
    }

    /// At that listener.
    pub fn at(url: &str) -> Device {
        let gateway = url.trim_start_matches("sn://").parse().expect("an address");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        Device { socket, gateway }
    }

    /// Connected with a clean session and a keep alive that does not matter.
    pub fn connect(node: &Handle, id: &str) -> Device {
        let device = Device::new(node);
        device.come(id, true);
        device
    }

    /// CONNECT without a will, to CONNACK; a session that is kept is opened too.
    pub fn come(&self, client_id: &str, clean_session: bool) {
        self.knock(client_id, clean_session);
        if !clean_session {
            self.expect_silence();
        }
    }

    /// CONNECT without a will, to CONNACK, and not a word more.
    pub fn knock(&self, client_id: &str, clean_session: bool) {
        self.say(Message::Connect(Connect { will: false, clean_session, duration_s: 600, client_id }));
        self.expect(Message::ConnAck(ReturnCode::ACCEPTED));
    }

    /// The same in a session that goes on, after any number of words that nobody was there.
    pub fn come_back(&self, client_id: &str) {
        self.say(Message::Connect(Connect { will: false, clean_session: false, duration_s: 600, client_id }));
        while self.take_any(|message| matches!(message, Message::Disconnect(_))) {}
    }

    /// Whether the next message is such a one; if not it must be a CONNACK that accepts.
    fn take_any(&self, is_it: impl FnOnce(&Message<'_>) -> bool) -> bool {
        let bytes = self.hear_word();
        let heard = decode(&bytes, &Limits::PROTOCOL).expect("the node speaks MQTT-SN").message;
        let found = is_it(&heard);
        assert!(found || heard == Message::ConnAck(ReturnCode::ACCEPTED), "{heard:?}");
        found
    }

    pub fn say(&self, message: Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(&Limits::PROTOCOL, &mut bytes).expect("the test's message can be encoded");
        self.say_bytes(&bytes);
    }

    pub fn say_bytes(&self, bytes: &[u8]) {
        self.socket.send_to(bytes, self.gateway).expect("loopback");
    }

    /// The next datagram.
    pub fn hear(&self) -> Vec<u8> {
        let mut bytes = vec![0; 2048];
        let len = self.socket.recv(&mut bytes).expect("something comes within the time limit");
        bytes.truncate(len);
        bytes
    }

    /// The next datagram that does not only ask whether it is there.
    fn hear_word(&self) -> Vec<u8> {
        loop {
            let bytes = self.hear();
            if bytes != [2, 0x16] {
                return bytes;
            }
            self.say(Message::PingResp);
        }
    }

    /// The next message, which must be this one.
    pub fn expect(&self, message: Message<'_>) {
        let bytes = self.hear_word();
        let heard = decode(&bytes, &Limits::PROTOCOL).expect("the node speaks MQTT-SN").message;
        assert_eq!(heard, message);
    }

    /// What `take` finds in the next message, which must be of this kind.
    pub fn take<T>(&self, kind: Kind, take: impl FnOnce(&Message<'_>) -> T) -> T {
        let bytes = self.hear_word();
        let heard = decode(&bytes, &Limits::PROTOCOL).expect("the node speaks MQTT-SN").message;
        assert_eq!(heard.kind(), kind, "{heard:?}");
        take(&heard)
    }

    /// REGISTER to its REGACK; the id.
    pub fn register(&self, topic: &str) -> TopicId {
        self.say(Message::Register(Register { topic_id: None, msg_id: msg_id(77), topic }));
        let ack = self.regack();
        assert_eq!((ack.msg_id, ack.code), (Some(msg_id(77)), ReturnCode::ACCEPTED));
        ack.topic_id().expect("an id")
    }

    fn regack(&self) -> TopicAck {
        self.take(Kind::RegAck, |message| match message {
            Message::RegAck(ack) => *ack,
            other => panic!("{other:?}"),
        })
    }

    /// SUBSCRIBE to its SUBACK.
    pub fn subscribe(&self, topic: SubscribeTopic<'_>, qos: QoS) -> SubAck {
        self.say(Message::Subscribe(Subscribe { dup: false, qos, msg_id: msg_id(78), topic }));
        self.take(Kind::SubAck, |message| match message {
            Message::SubAck(ack) => *ack,
            other => panic!("{other:?}"),
        })
    }

    /// The kind of the next message, which must be one of these.
    pub fn take_any_of(&self, kinds: &[Kind]) -> Kind {
        let bytes = self.hear_word();
        let heard = decode(&bytes, &Limits::PROTOCOL).expect("the node speaks MQTT-SN").message;
        assert!(kinds.contains(&heard.kind()), "{heard:?}");
        heard.kind()
    }

    /// The next message must be a REGISTER; it is accepted. Its topic and id.
    pub fn learn(&self) -> (String, TopicId) {
        let (topic, id, msg_id) = self.take(Kind::Register, |message| match message {
            Message::Register(register) => (register.topic.to_owned(), register.topic_id, register.msg_id),
            other => panic!("{other:?}"),
        });
        let id = id.expect("a gateway's REGISTER has the id");
        let ack = TopicAck { topic: id.get(), msg_id: Some(msg_id), code: ReturnCode::ACCEPTED };
        self.say(Message::RegAck(ack));
        (topic, id)
    }

    /// The next message must be a PUBLISH: its topic, QoS, id and payload.
    pub fn receive(&self) -> (PublishTopic, PublishQoS, Option<MsgId>, Vec<u8>) {
        self.take(Kind::Publish, |message| match message {
            Message::Publish(publish) => (publish.topic, publish.qos, publish.msg_id, publish.payload.to_vec()),
            other => panic!("{other:?}"),
        })
    }

    /// The same, acknowledged at QoS 1.
    pub fn receive_acked(&self) -> (PublishTopic, Vec<u8>) {
        let (topic, _, msg_id, payload) = self.receive();
        let ack = TopicAck { topic: topic.field(), msg_id, code: ReturnCode::ACCEPTED };
        self.say(Message::PubAck(ack));
        (topic, payload)
    }

    /// PUBACK of a PUBLISH of ours: its code.
    pub fn puback(&self) -> ReturnCode {
        self.take(Kind::PubAck, |message| match message {
            Message::PubAck(ack) => ack.code,
            other => panic!("{other:?}"),
        })
    }

    /// Nothing more may come: what is asked now is answered next.
    pub fn expect_silence(&self) {
        self.say(Message::PingReq(PingReq { client_id: None }));
        self.expect(Message::PingResp);
    }

    pub fn sleep(&self, duration_s: u16) {
        self.say(Message::Disconnect(Disconnect { duration_s: Some(duration_s) }));
        self.expect(Message::Disconnect(Disconnect { duration_s: None }));
    }

    pub fn leave(&self) {
        self.say(Message::Disconnect(Disconnect { duration_s: None }));
        self.expect(Message::Disconnect(Disconnect { duration_s: None }));
    }
}
