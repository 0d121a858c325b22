//! Packets as tests want them: change what a test is about.

use lapwing_codec::{Connect, ConnectProperties, PacketId, Publish, PublishProperties, QoS, Version, Will};

/// A CONNECT with clean start, no keep alive, no expiry; change what the test is about.
pub fn connect(id: &str) -> Connect<'_> {
    Connect {
        version: Version::V5,
        is_bridge: false,
        clean_start: true,
        keep_alive_s: 0,
        client_id: id,
        will: None,
        username: None,
        password: None,
        properties: ConnectProperties::default(),
    }
}

/// The same for a session that outlives its connection.
pub fn lasting(id: &str) -> Connect<'_> {
    let properties = ConnectProperties { session_expiry_s: 3600, ..Default::default() };
    Connect { clean_start: false, properties, ..connect(id) }
}

pub fn will<'a>(topic: &'a str, payload: &'a [u8]) -> Will<'a> {
    Will { topic, payload, qos: QoS::AtLeastOnce, retain: false, properties: Default::default() }
}

pub fn id(id: u16) -> PacketId {
    PacketId::new(id).expect("not zero")
}

pub fn publish<'a>(topic: &'a str, payload: &'a [u8], qos: QoS, packet_id: Option<u16>) -> Publish<'a> {
    Publish {
        dup: false,
        qos,
        retain: false,
        topic,
        packet_id: packet_id.map(id),
        properties: PublishProperties::default(),
        payload,
    }
}

/// Says something about a CONNECT in one word.
pub trait ConnectExt<'a> {
    fn in_version(self, version: Version) -> Connect<'a>;
    fn with_will(self, will: Will<'a>) -> Connect<'a>;
}

impl<'a> ConnectExt<'a> for Connect<'a> {
    fn in_version(self, version: Version) -> Connect<'a> {
        Connect { version, ..self }
    }

    fn with_will(self, will: Will<'a>) -> Connect<'a> {
        Connect { will: Some(will), ..self }
    }
}
