//! What a client of MQTT-SN says, as packets of MQTT 5.0; and the codes of one in the other's.

use lapwing_codec::{
    Connect, ConnectProperties, Packet, PacketId, ReasonCode, Subscribe, SubscribeFiltersBuf, SubscribeProperties,
    SubscriptionOptions, Unsubscribe, UnsubscribeFiltersBuf, UserProperties, Version, Will, WillProperties,
};
use lapwing_sn::{QoS, ReturnCode};

use super::will::StoredWill;

/// The largest packet that is of use: no payload of a datagram is larger, and no topic.
pub(super) const PACKET_BYTES_MAX: u32 = 128 << 10;

/// CONNECT of a client. Keep Alive is watched where its datagrams come, so none is asked for; and one message at a time.
pub(super) fn connect<'a>(
    client_id: &'a str,
    clean_session: bool,
    session_expiry_s: u32,
    will: Option<&'a StoredWill>,
) -> Connect<'a> {
    let will = will.map(|will| Will {
        topic: &will.topic,
        payload: &will.payload,
        qos: will.qos,
        retain: will.retain,
        properties: WillProperties::default(),
    });
    let session_expiry_s = if clean_session { 0 } else { session_expiry_s };
    Connect {
        version: Version::V5,
        is_bridge: false,
        clean_start: clean_session,
        keep_alive_s: 0,
        client_id,
        will,
        username: None,
        password: None,
        properties: ConnectProperties {
            session_expiry_s,
            receive_max: 1,
            packet_bytes_max: Some(PACKET_BYTES_MAX),
            request_problem_information: false,
            ..ConnectProperties::default()
        },
    }
}

/// SUBSCRIBE to one filter, appended to `out`; false when it cannot be said.
pub(super) fn subscribe(filter: &str, qos: QoS, packet_id: PacketId, out: &mut Vec<u8>) -> bool {
    let mut filters = SubscribeFiltersBuf::new();
    if filters.push(filter, SubscriptionOptions::new(qos)).is_err() {
        return false;
    }
    let properties = SubscribeProperties::default();
    let packet = Packet::Subscribe(Subscribe { packet_id, properties, filters: filters.as_ref() });
    packet.encode(Version::V5, out).is_ok()
}

/// UNSUBSCRIBE from one filter, appended to `out`; false when it cannot be said.
pub(super) fn unsubscribe(filter: &str, packet_id: PacketId, out: &mut Vec<u8>) -> bool {
    let mut filters = UnsubscribeFiltersBuf::new();
    if filters.push(filter).is_err() {
        return false;
    }
    let packet = Packet::Unsubscribe(Unsubscribe { packet_id, user: UserProperties::EMPTY, filters: filters.as_ref() });
    packet.encode(Version::V5, out).is_ok()
}

/// What the broker says, in the codes of MQTT-SN: congestion is worth another try, everything else is not.
pub(super) fn return_code(reason: ReasonCode) -> ReturnCode {
    match reason {
        reason if !reason.is_error() => ReturnCode::ACCEPTED,
        ReasonCode::QuotaExceeded
        | ReasonCode::ServerBusy
        | ReasonCode::ServerUnavailable
        | ReasonCode::ServerShuttingDown
        | ReasonCode::ConnectionRateExceeded
        | ReasonCode::MessageRateTooHigh
        | ReasonCode::UseAnotherServer
        | ReasonCode::ServerMoved => ReturnCode::CONGESTION,
        ReasonCode::TopicNameInvalid => ReturnCode::INVALID_TOPIC_ID,
        _ => ReturnCode::NOT_SUPPORTED,
    }
}

/// The QoS that a SUBACK grants.
pub(super) fn granted(reason: ReasonCode) -> Result<QoS, ReturnCode> {
    match reason {
        ReasonCode::Success => Ok(QoS::AtMostOnce),
        ReasonCode::GrantedQoS1 => Ok(QoS::AtLeastOnce),
        ReasonCode::GrantedQoS2 => Ok(QoS::ExactlyOnce),
        refused => Err(return_code(refused)),
    }
}

#[cfg(test)]
mod tests {
    use lapwing_codec::{Limits, decode};

    use super::*;

    /// Does a CONNECT say what a client of MQTT-SN is: no keep alive of its own, one message at a time, its will?
    #[test]
    fn a_connect_is_one_of_mqtt() {
        let will = StoredWill { topic: "w".into(), payload: b"bye".to_vec(), qos: QoS::AtLeastOnce, retain: true };
        let mut bytes = Vec::new();
        Packet::Connect(connect("c", false, 60, Some(&will))).encode(Version::V5, &mut bytes).unwrap();
        let (packet, _) = decode(&bytes, Version::V5, &Limits::PROTOCOL).unwrap().unwrap();
        let Packet::Connect(read) = packet else { panic!("{packet:?}") };
        assert_eq!((read.keep_alive_s, read.clean_start, read.client_id), (0, false, "c"));
        assert_eq!((read.properties.receive_max, read.properties.session_expiry_s), (1, 60));
        assert_eq!(read.will.map(|will| (will.topic, will.payload, will.retain)), Some(("w", &b"bye"[..], true)));
        assert_eq!(connect("c", true, 60, None).properties.session_expiry_s, 0);
    }

    /// Is what passes by itself congestion, and what does not a refusal for good?
    #[test]
    fn reasons_have_codes() {
        assert_eq!(return_code(ReasonCode::NoMatchingSubscribers), ReturnCode::ACCEPTED);
        assert_eq!(return_code(ReasonCode::QuotaExceeded), ReturnCode::CONGESTION);
        assert_eq!(return_code(ReasonCode::NotAuthorized), ReturnCode::NOT_SUPPORTED);
        assert_eq!(granted(ReasonCode::GrantedQoS2), Ok(QoS::ExactlyOnce));
        assert_eq!(granted(ReasonCode::NotAuthorized), Err(ReturnCode::NOT_SUPPORTED));
    }
}
