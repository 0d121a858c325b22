//! DISCONNECT from the server: what it says, and how much of it a small client is told.

use lapwing_codec::{Connect, ConnectProperties, Packet, ReasonCode, Version};
use lapwing_session::Settings;

use crate::rig::{Rig, connect};

/// [MQTT-3.14.2-3] the Reason String yields to the client's Maximum Packet Size, then the packet itself.
#[test]
fn a_disconnect_keeps_to_the_clients_packet_size() {
    for (packet_bytes_max, expected) in [(100, &["disconnect(0x82)"][..]), (5, &["disconnect(0x82)"]), (2, &[])] {
        let properties = ConnectProperties { packet_bytes_max: Some(packet_bytes_max), ..ConnectProperties::default() };
        let mut rig = Rig::connected(&Connect { properties, ..connect(Version::V5) }, Settings::default());
        assert!(rig.handle(&Packet::PingResp).is_err());
        assert!(rig.out.len() <= packet_bytes_max as usize);
        assert_eq!(rig.sent(), expected);
    }
}

/// A client that is sent to another server is told to which, if there is room for it, and nobody else is.
#[test]
fn a_disconnect_names_another_server() {
    let reference = "lapwing-2.example:1883";
    let settings = Settings { server_reference: Some(reference.into()), ..Settings::default() };
    for (reason, packet_bytes_max, expected) in [
        (ReasonCode::UseAnotherServer, None, Some(reference)),
        (ReasonCode::ServerMoved, None, Some(reference)),
        (ReasonCode::UseAnotherServer, Some(4 + 3 + reference.len() as u32), Some(reference)),
        (ReasonCode::UseAnotherServer, Some(3 + 3 + reference.len() as u32), None),
        (ReasonCode::SessionTakenOver, None, None),
    ] {
        let properties = ConnectProperties { packet_bytes_max, ..ConnectProperties::default() };
        let mut rig = Rig::connected(&Connect { properties, ..connect(Version::V5) }, settings.clone());
        let (session, mut io) = rig.parts();
        let _ = session.dismiss(reason, "the server shuts down", &mut io);
        assert!(packet_bytes_max.is_none_or(|max| rig.out.len() <= max as usize));
        let told = rig.sent_one(|packet| match packet {
            Packet::Disconnect(disconnect) => {
                assert_eq!(disconnect.reason, reason);
                let properties = disconnect.properties;
                assert_eq!(properties.reason_string.is_some(), packet_bytes_max.is_none());
                properties.server_reference.map(str::to_owned)
            }
            other => panic!("{other:?}"),
        });
        assert_eq!(told.as_deref(), expected, "{reason} {packet_bytes_max:?}");
    }
}
