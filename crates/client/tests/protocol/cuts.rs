//! The same conversation cut into pieces anywhere.

use proptest::prelude::*;

use super::*;

/// A conversation with every kind of packet in it.
fn conversation() -> (Client, Vec<u8>) {
    let mut client = Client::connected(Version::V5, ConnAckProperties::default());
    let mut filters = SubscribeFiltersBuf::new();
    filters.push("t", SubscriptionOptions::new(QoS::ExactlyOnce)).expect("short");
    client.protocol.subscribe(filters.as_ref(), None, 5, &mut client.out).expect("connected");
    assert_eq!(client.publish(QoS::ExactlyOnce, 6), Ok(()));
    client.out.clear();
    let reasons = [ReasonCode::GrantedQoS2];
    let suback = SubAck { packet_id: PacketId::MIN, properties: ReasonProperties::EMPTY, reasons: &reasons };
    let bytes = encode(
        &[
            Packet::SubAck(suback),
            Packet::PingResp,
            Packet::PubRec(ack(2)),
            Packet::Publish(publish(QoS::ExactlyOnce, Some(9))),
            Packet::PubRel(ack(9)),
            Packet::PubComp(ack(2)),
            Packet::Publish(publish(QoS::AtLeastOnce, Some(9))),
            Packet::Publish(publish(QoS::AtMostOnce, None)),
        ],
        Version::V5,
    );
    (client, bytes)
}

/// Does it matter where a read happens to end?
#[test]
fn cut_anywhere() -> Result<(), ClientError> {
    let (mut whole, bytes) = conversation();
    whole.protocol.receive(&bytes, &mut whole.out, &mut whole.heard)?;
    for cut in 0..bytes.len() {
        let (mut client, bytes) = conversation();
        let used = client.protocol.receive(&bytes[..cut], &mut client.out, &mut client.heard)?;
        client.protocol.receive(&bytes[used..], &mut client.out, &mut client.heard)?;
        assert_eq!((&client.heard, &client.out), (&whole.heard, &whole.out), "cut at {cut}");
    }
    Ok(())
}

proptest! {
    /// Whatever a broker sends: an event, or an error. Never a panic, never more bytes used than given.
    #[test]
    fn any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..60, flip in any::<u8>()) {
        let (mut client, good) = conversation();
        if let Ok(used) = client.protocol.receive(&bytes, &mut client.out, &mut client.heard) {
            prop_assert!(used <= bytes.len());
        }
        bytes = good;
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= flip;
        }
        let (mut client, _) = conversation();
        if let Ok(used) = client.protocol.receive(&bytes, &mut client.out, &mut client.heard) {
            prop_assert!(used <= bytes.len());
        }
    }
}
