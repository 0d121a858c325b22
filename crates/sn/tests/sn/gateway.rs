//! A gateway with one client, for the tests of what it knows: datagrams in hexadecimal both ways.

use lapwing_sn::peer::{Client, Context, Delivery, Event, Outgoing, Predefined, Settings, Tick};
use lapwing_sn::{MsgId, QoS, ReturnCode, TopicId, decode};

/// One client of a gateway that knows topic `all` as 1, and `own` as 2 for the client `abc`.
pub struct Gateway {
    pub client: Client,
    pub predefined: Predefined,
    pub settings: Settings,
    pub out: Vec<u8>,
    pub now_ms: u64,
}

impl Gateway {
    pub fn new() -> Self {
        let mut predefined = Predefined::default();
        predefined.add(None, TopicId::MIN, "all").unwrap();
        predefined.add(Some("abc"), TopicId::new(2).unwrap(), "own").unwrap();
        let settings =
            Settings { retry_ms: 10, retries_max: 2, registrations_max: 2, will_bytes_max: 3, ..Settings::default() };
        Gateway { client: Client::default(), predefined, settings, out: Vec::new(), now_ms: 0 }
    }

    /// With `abc` connected and its CONNACK heard.
    pub fn connected() -> Self {
        let mut gateway = Gateway::new();
        gateway.connect("09 04 04 01 003C 'abc'");
        gateway
    }

    /// Does something for the client.
    pub fn act<T>(&mut self, act: impl FnOnce(&mut Client, &mut Context<'_>) -> T) -> T {
        act(&mut self.client, &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut self.out })
    }

    /// Panics unless the CONNECT opens a session, which is accepted.
    #[track_caller]
    pub fn connect(&mut self, hex: &str) {
        self.hear(hex, |event| assert!(matches!(event, Event::Connect { .. }), "{event:?}"));
        assert_eq!(self.act(|client, cx| client.opened(ReturnCode::ACCEPTED, cx)), Ok(true));
        self.sent("03 05 00");
    }

    /// A datagram comes; `look` sees what it means.
    #[track_caller]
    pub fn hear<T>(&mut self, hex: &str, look: impl FnOnce(Event<'_>) -> T) -> T {
        let datagram = bytes(hex);
        let message = decode(&datagram, &self.settings.limits).expect("a message").message;
        let cx = &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut self.out };
        let event = self.client.handle(&message, &self.predefined, cx);
        look(event.expect("every answer fits"))
    }

    /// A datagram comes that means `event`, and `answer` goes out.
    #[track_caller]
    pub fn expect(&mut self, hex: &str, event: Event<'static>, answer: &str) {
        self.hear(hex, |seen| assert_eq!(seen, event, "{hex}"));
        self.sent(answer);
    }

    /// Panics unless this, and nothing else, went out since the last time.
    #[track_caller]
    pub fn sent(&mut self, hex: &str) {
        let (sent, expected) = (std::mem::take(&mut self.out), bytes(hex));
        assert_eq!(sent, expected, "{sent:02x?} instead of {hex}");
    }

    pub fn deliver(&mut self, topic: &str, qos: QoS, msg_id: u16) -> Delivery {
        let msg_id = qos.is_acknowledged().then(|| MsgId::new(msg_id).unwrap());
        let message = Outgoing { topic, qos, retain: false, dup: false, msg_id, payload: b"23" };
        let cx = &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut self.out };
        self.client.deliver(&message, &self.predefined, cx).expect("it fits")
    }

    pub fn tick(&mut self, now_ms: u64) -> Tick {
        self.now_ms = now_ms;
        self.act(Client::tick)
    }
}

/// Bytes of hexadecimal digits; spaces do not count, and 'quoted' parts stand for themselves.
pub fn bytes(hex: &str) -> Vec<u8> {
    let parts = hex.split('\'').enumerate().map(|(index, part)| {
        if index % 2 == 1 {
            return part.as_bytes().to_vec();
        }
        let digits: String = part.split_whitespace().collect();
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
    });
    parts.collect::<Vec<_>>().concat()
}
