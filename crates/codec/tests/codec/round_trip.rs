//! Does every packet that we write come back equal? And what the encoder refuses, does it refuse without writing?

use crate::pool::{Pool, pool};
use lapwing_codec::*;
use proptest::prelude::*;

/// Writes and reads `packet`. Refused packets leave the buffer alone and are no failure: reason codes and versions are
/// random here. `must_fit`: nothing about this packet can be refused.
fn check(packet: Packet<'_>, version: Version, must_fit: bool) -> Result<(), TestCaseError> {
    let mut out = vec![0xAA];
    match packet.encode(version, &mut out) {
        Ok(()) => {
            let decoded = decode(&out[1..], version, &Limits::PROTOCOL);
            prop_assert_eq!(decoded, Ok(Some((packet, out.len() - 1))));
        }
        Err(error) => {
            prop_assert!(!must_fit, "{}", error);
            prop_assert_eq!(out, [0xAA]);
        }
    }
    Ok(())
}

fn will(pool: &Pool) -> Will<'_> {
    let properties = WillProperties {
        delay_s: pool.u32s[0].unwrap_or_default(),
        payload_is_utf8: pool.flags[0],
        message_expiry_s: pool.u32s[1],
        content_type: pool.text(0),
        response_topic: pool.flags[1].map(|_| pool.topics[1].as_str()),
        correlation_data: pool.blob(0),
        user: pool.user.as_ref(),
    };
    let properties = if pool.is_v5() { properties } else { WillProperties::default() };
    let payload = pool.blob(1).unwrap_or_default();
    Will { topic: &pool.topics[0], payload, qos: pool.qos(0), retain: pool.flag(2), properties }
}

pub fn connect(pool: &Pool) -> Connect<'_> {
    let properties = ConnectProperties {
        session_expiry_s: pool.u32s[2].unwrap_or_default(),
        receive_max: pool.u16s[0].unwrap_or(u16::MAX).max(1),
        packet_bytes_max: pool.u32s[3].map(|bytes| bytes.max(1)),
        topic_alias_max: pool.u16s[1].unwrap_or_default(),
        request_response_information: pool.flag(3),
        request_problem_information: !pool.flag(4),
        user: pool.user.as_ref(),
        auth_method: pool.text(1),
        auth_data: pool.text(1).and(pool.blob(2)),
    };
    let password = if pool.is_v5() { pool.blob(3) } else { pool.text(3).and(pool.blob(3)) };
    Connect {
        version: pool.version,
        is_bridge: !pool.is_v5() && pool.flag(3),
        clean_start: pool.flag(5),
        keep_alive_s: pool.number,
        client_id: pool.text(2).unwrap_or_default(),
        will: pool.flag(0).then(|| will(pool)),
        username: pool.text(3),
        password,
        properties: if pool.is_v5() { properties } else { ConnectProperties::default() },
    }
}

fn connack(pool: &Pool) -> ConnAck<'_> {
    let properties = ConnAckProperties {
        session_expiry_s: pool.u32s[0],
        receive_max: pool.u16s[0].unwrap_or(u16::MAX).max(1),
        qos_max: pool.qos(1),
        retain_available: !pool.flag(0),
        packet_bytes_max: pool.u32s[1].map(|bytes| bytes.max(1)),
        assigned_client_id: pool.text(0),
        topic_alias_max: pool.u16s[2].unwrap_or_default(),
        reason_string: pool.text(1),
        user: pool.user.as_ref(),
        wildcard_available: !pool.flag(1),
        subscription_ids_available: !pool.flag(2),
        shared_available: !pool.flag(3),
        server_keep_alive_s: pool.u16s[3],
        response_information: pool.text(2),
        server_reference: pool.text(3),
        auth_method: pool.text(4),
        auth_data: pool.text(4).and(pool.blob(0)),
    };
    let reason = if pool.is_v5() {
        pool.reason
    } else {
        ReasonCode::from_return_code_v311((pool.number % 6) as u8).expect("below 6")
    };
    ConnAck {
        session_present: pool.flag(4) && !reason.is_error(),
        reason,
        properties: if pool.is_v5() { properties } else { ConnAckProperties::default() },
    }
}

fn publish(pool: &Pool) -> Publish<'_> {
    let properties = PublishProperties {
        payload_is_utf8: pool.flags[0],
        message_expiry_s: pool.u32s[0],
        topic_alias: pool.u16s[1].filter(|&alias| alias != 0),
        response_topic: pool.flags[1].map(|_| pool.topics[1].as_str()),
        correlation_data: pool.blob(0),
        content_type: pool.text(0),
        subscription_ids: SubscriptionIds::from_slice(&pool.ids),
        user: pool.user.as_ref(),
    };
    let properties = if pool.is_v5() { properties } else { PublishProperties::default() };
    let qos = pool.qos(0);
    Publish {
        dup: pool.flag(2) && qos.is_acknowledged(),
        qos,
        retain: pool.flag(3),
        topic: if properties.topic_alias.is_some() && pool.flag(4) { "" } else { &pool.topics[0] },
        packet_id: qos.is_acknowledged().then_some(pool.packet_id),
        properties,
        payload: pool.blob(1).unwrap_or_default(),
    }
}

fn reason_properties(pool: &Pool) -> ReasonProperties<'_> {
    if pool.is_v5() {
        ReasonProperties { reason_string: pool.text(0), user: pool.user.as_ref() }
    } else {
        ReasonProperties::EMPTY
    }
}

fn ack(pool: &Pool) -> Ack<'_> {
    let reason = if pool.is_v5() { pool.reason } else { ReasonCode::Success };
    Ack { packet_id: pool.packet_id, reason, properties: reason_properties(pool) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn connect_comes_back(pool in pool()) {
        check(Packet::Connect(connect(&pool)), pool.version, true)?;
    }

    #[test]
    fn connack_comes_back(pool in pool()) {
        check(Packet::ConnAck(connack(&pool)), pool.version, !pool.is_v5())?;
    }

    #[test]
    fn publish_comes_back_and_has_its_length(pool in pool()) {
        let publish = publish(&pool);
        check(Packet::Publish(publish), pool.version, true)?;
        let mut out = Vec::new();
        publish.encode(pool.version, &mut out).unwrap();
        prop_assert_eq!(publish.encoded_len(pool.version), out.len());
    }

    #[test]
    fn acknowledgements_come_back(pool in pool()) {
        for packet in [Packet::PubAck, Packet::PubRec, Packet::PubRel, Packet::PubComp] {
            check(packet(ack(&pool)), pool.version, !pool.is_v5())?;
            check(packet(Ack { reason: ReasonCode::Success, ..ack(&pool) }), pool.version, true)?;
        }
    }

    #[test]
    fn subscribe_comes_back(pool in pool()) {
        let mut filters = SubscribeFiltersBuf::new();
        for (filter, options) in pool.filters.iter().zip(&pool.options) {
            let no_local = options.no_local && !filter.starts_with("$share/");
            let options = SubscriptionOptions { no_local, ..*options };
            let options = if pool.is_v5() { options } else { SubscriptionOptions::new(options.qos) };
            filters.push(filter, options).unwrap();
        }
        let properties = SubscribeProperties { subscription_id: pool.ids.first().copied(), user: pool.user.as_ref() };
        let properties = if pool.is_v5() { properties } else { SubscribeProperties::default() };
        let packet = Subscribe { packet_id: pool.packet_id, properties, filters: filters.as_ref() };
        prop_assert!(packet.filters.iter().map(|filter| filter.filter).eq(pool.filters.iter()));
        check(Packet::Subscribe(packet), pool.version, true)?;
    }

    #[test]
    fn suback_comes_back(pool in pool()) {
        let granted = [ReasonCode::granted(pool.qos(0)), ReasonCode::UnspecifiedError];
        let packet = SubAck { packet_id: pool.packet_id, properties: reason_properties(&pool), reasons: &granted };
        check(Packet::SubAck(packet), pool.version, true)?;
        if pool.is_v5() {
            check(Packet::SubAck(SubAck { reasons: &pool.reasons, ..packet }), pool.version, false)?;
        }
    }

    #[test]
    fn unsubscribe_comes_back(pool in pool()) {
        let mut filters = UnsubscribeFiltersBuf::new();
        pool.filters.iter().for_each(|filter| filters.push(filter).unwrap());
        let user = if pool.is_v5() { pool.user.as_ref() } else { UserProperties::EMPTY };
        let packet = Unsubscribe { packet_id: pool.packet_id, user, filters: filters.as_ref() };
        prop_assert!(packet.filters.iter().eq(pool.filters.iter()));
        check(Packet::Unsubscribe(packet), pool.version, true)?;
    }

    #[test]
    fn unsuback_comes_back(pool in pool()) {
        let reasons: &[ReasonCode] = if pool.is_v5() { &pool.reasons } else { &[] };
        let packet = UnsubAck { packet_id: pool.packet_id, properties: reason_properties(&pool), reasons };
        check(Packet::UnsubAck(packet), pool.version, !pool.is_v5())?;
    }

    #[test]
    fn disconnect_comes_back(pool in pool()) {
        let properties = DisconnectProperties {
            session_expiry_s: pool.u32s[0],
            reason_string: pool.text(0),
            user: pool.user.as_ref(),
            server_reference: pool.text(1),
        };
        let packet = Disconnect { reason: pool.reason, properties };
        let packet = if pool.is_v5() { packet } else { Disconnect::default() };
        check(Packet::Disconnect(packet), pool.version, !pool.is_v5())?;
    }

    #[test]
    fn auth_comes_back(pool in pool()) {
        let properties = AuthProperties {
            auth_method: pool.text(0),
            auth_data: pool.blob(0),
            reason_string: pool.text(1),
            user: pool.user.as_ref(),
        };
        check(Packet::Auth(Auth { reason: pool.reason, properties }), pool.version, false)?;
    }

    #[test]
    fn any_bytes_are_a_packet_or_an_error(pool in pool(), bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(Some((packet, len))) = decode(&bytes, pool.version, &Limits::default()) {
            prop_assert!(len <= bytes.len());
            check(packet, pool.version, true)?;
        }
    }
}
