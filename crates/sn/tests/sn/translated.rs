//! A client of MQTT 3.1.1 behind its translator: what it writes and hears, and its datagrams.

use lapwing_codec as codec;
use lapwing_codec::{
    ConnectProperties, Packet, PacketId, QoS, SubscribeFiltersBuf, SubscribeProperties, SubscriptionOptions, Version,
    Will,
};
use lapwing_sn::client::{Translator, settings};
use lapwing_sn::peer::Settings;

use crate::gateway::bytes;

/// One connection, whose packets and datagrams a test sees.
pub struct Device {
    pub translator: Translator,
    pub now_ms: u64,
}

pub fn id(id: u16) -> PacketId {
    PacketId::new(id).expect("an id")
}

/// CONNECT of `abc`, with a keep alive of a minute.
pub fn connect(clean_start: bool, will: Option<Will<'static>>) -> codec::Connect<'static> {
    codec::Connect {
        version: Version::V311,
        is_bridge: false,
        clean_start,
        keep_alive_s: 60,
        client_id: "abc",
        will,
        username: None,
        password: None,
        properties: ConnectProperties::default(),
    }
}

pub fn encoded(packet: &Packet<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(Version::V311, &mut bytes).expect("3.1.1 can say it");
    bytes
}

pub fn publish(topic: &str, qos: QoS, packet_id: u16) -> Vec<u8> {
    let packet_id = qos.is_acknowledged().then(|| id(packet_id));
    let publish = codec::Publish { qos, packet_id, ..codec::Publish::qos0(topic, b"23") };
    encoded(&Packet::Publish(publish))
}

pub fn subscribe(filters: &[(&str, QoS)], packet_id: u16) -> Vec<u8> {
    let mut packed = SubscribeFiltersBuf::new();
    filters.iter().for_each(|(filter, qos)| packed.push(filter, SubscriptionOptions::new(*qos)).expect("fits"));
    let properties = SubscribeProperties::default();
    encoded(&Packet::Subscribe(codec::Subscribe { packet_id: id(packet_id), properties, filters: packed.as_ref() }))
}

impl Device {
    pub fn new() -> Self {
        let settings = Settings { retry_ms: 10, retries_max: 2, registrations_max: 3, ..settings() };
        Device { translator: Translator::new(settings), now_ms: 0 }
    }

    /// With CONNACK heard.
    pub fn connected() -> Self {
        let mut device = Device::new();
        device.write(&encoded(&Packet::Connect(connect(true, None))));
        device.sent(&["09 04 04 01 003C 'abc'"]);
        device.hear("03 05 00", &[0x20, 2, 0, 0]);
        device
    }

    #[track_caller]
    pub fn write(&mut self, packets: &[u8]) {
        assert_eq!(self.translator.write(packets, self.now_ms), Ok(packets.len()));
    }

    /// A datagram comes, of which the client hears `packets`.
    #[track_caller]
    pub fn hear(&mut self, datagram: &str, packets: &[u8]) {
        let mut input = Vec::new();
        assert_eq!(self.translator.hear(&bytes(datagram), &mut input, self.now_ms), Ok(()));
        assert_eq!(input, packets, "{datagram}");
    }

    /// Panics unless these datagrams, and no others, went out since the last time.
    #[track_caller]
    pub fn sent(&mut self, datagrams: &[&str]) {
        let sent: Vec<Vec<u8>> = std::iter::from_fn(|| self.translator.next_datagram()).collect();
        let expected: Vec<Vec<u8>> = datagrams.iter().map(|hex| bytes(hex)).collect();
        assert_eq!(sent, expected, "{sent:02x?}");
    }

    #[track_caller]
    pub fn tick(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
        assert_eq!(self.translator.tick(now_ms), Ok(()));
    }
}
