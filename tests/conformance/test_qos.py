"""Delivery: the handshakes of QoS 1 and 2 on both sides, repetition on return, order."""

from __future__ import annotations

import pytest
import wire
from peer import pass_time, properties
from wire import PUBACK, PUBCOMP, PUBREC, PUBREL


def heads(packets):
    """What counts in a repetition: first byte and packet identifier."""
    return [(packet.first, packet.packet_id) for packet in packets]


@pytest.mark.statement(4, "MQTT-4.3.2-1", "MQTT-3.3.1-1", "MQTT-4.4.0-1", "MQTT-2.3.1-4")
@pytest.mark.statement(5, "MQTT-4.3.2-2", "MQTT-4.3.2-3", "MQTT-3.3.1-1", "MQTT-4.4.0-1")
def test_qos_1_is_sent_again_on_return_until_it_is_acknowledged(join, version, name):
    peer = join("a", keep=True)
    peer.subscribe_to((name, 1))
    join().publish(name, b"m", qos=1)
    packet_id = (first := peer.message(b"m")).packet_id
    assert first.first == 0x32, "QoS 1, DUP 0"
    assert peer.round_trip() == [], "and at no other time"
    for _ in range(2):
        peer.close()
        peer = join("a", keep=True)
        assert heads([peer.message(b"m")]) == [(0x3A, packet_id)], "QoS 1, DUP 1, the same identifier"
    peer.send(wire.ack(PUBACK, packet_id))
    assert peer.round_trip() == []
    peer.close()
    assert join("a", keep=True).round_trip() == []


@pytest.mark.statement(4, "MQTT-4.3.3-1", "MQTT-3.3.1-1", "MQTT-4.4.0-1", "MQTT-2.3.1-6")
@pytest.mark.statement(
    5,
    "MQTT-4.3.3-2",
    "MQTT-4.3.3-3",
    "MQTT-4.3.3-4",
    "MQTT-4.3.3-5",
    "MQTT-4.3.3-6",
    "MQTT-4.4.0-1",
    "MQTT-2.2.1-5",
)
def test_qos_2_goes_on_where_it_was_on_return(join, version, name):
    peer = join("a", keep=True)
    peer.subscribe_to((name, 2))
    join().publish(name, b"m", qos=2)
    packet_id = (first := peer.message(b"m")).packet_id
    assert first.first == 0x34, "QoS 2, DUP 0"
    peer.close()
    peer = join("a", keep=True)
    assert heads([peer.message(b"m")]) == [(0x3C, packet_id)], "QoS 2, DUP 1, the same identifier"
    peer.send(wire.ack(PUBREC, packet_id))
    assert heads([peer.expect(PUBREL)]) == [(0x62, packet_id)]
    assert peer.round_trip() == []
    for _ in range(2):
        peer.close()
        peer = join("a", keep=True)
        assert heads(peer.round_trip()) == [(0x62, packet_id)], "PUBREL again, and no PUBLISH"
    peer.send(wire.ack(PUBCOMP, packet_id))
    assert peer.round_trip() == []
    peer.close()
    assert join("a", keep=True).round_trip() == []


@pytest.mark.statement(4, "MQTT-4.3.2-2")
@pytest.mark.statement(5, "MQTT-4.3.2-4", "MQTT-4.3.2-5")
def test_after_puback_an_identifier_means_a_new_message(join, version, name):
    subscriber, publisher = join(), join()
    subscriber.subscribe_to((name, 0))
    for number in range(3):
        publisher.publish(name, str(number).encode(), qos=1, packet_id=9, dup=number > 0)
    assert [subscriber.message().payload for _ in range(3)] == [b"0", b"1", b"2"]


@pytest.mark.statement(4, "MQTT-4.3.3-2")
@pytest.mark.statement(5, "MQTT-4.3.3-8", "MQTT-4.3.3-10", "MQTT-4.3.3-11", "MQTT-4.3.3-12")
def test_a_qos_2_message_that_comes_again_is_passed_on_once(join, version, name):
    subscriber, publisher = join(), join("p", keep=True)
    subscriber.subscribe_to((name, 2))

    def send(payload, dup):
        publisher.send(wire.publish(name, payload, qos=2, packet_id=9, dup=dup, version=version))
        assert publisher.expect(PUBREC).packet_id == 9

    send(b"one", False)
    send(b"one", True)
    publisher.close()
    publisher = join("p", keep=True)
    send(b"one", True)
    for _ in range(2):
        publisher.send(wire.ack(PUBREL, 9))
        assert publisher.expect(PUBCOMP).packet_id == 9
    send(b"two", True)
    assert subscriber.message().payload == b"one"
    assert subscriber.message().payload == b"two"


@pytest.mark.statement(4, "MQTT-4.3.3-2")
@pytest.mark.statement(5, "MQTT-4.3.3-11")
def test_pubrel_of_an_unknown_identifier_is_answered(join, version):
    peer = join()
    peer.send(wire.ack(PUBREL, 99))
    answer = peer.expect(PUBCOMP)
    assert (answer.packet_id, answer.reason) == (99, 0x92 if version == 5 else 0)


@pytest.mark.statement(5, "MQTT-4.4.0-2")
@pytest.mark.parametrize(("qos", "kind"), [(1, PUBACK), (2, PUBREC)])
def test_an_acknowledgement_with_an_error_ends_a_delivery(join, version, name, qos, kind):
    peer = join("a", keep=True)
    peer.subscribe_to((name, 2))
    join().publish(name, b"m", qos=qos)
    packet_id = peer.message(b"m").packet_id
    peer.send(wire.packet(kind << 4, packet_id.to_bytes(2) + b"\x80"))
    assert peer.round_trip() == [], "no PUBREL"
    peer.close()
    assert join("a", keep=True).round_trip() == []


@pytest.mark.statement(5, "MQTT-4.3.3-7")
def test_a_message_under_way_no_longer_expires(join, version, name):
    peer = join("a", keep=True)
    peer.subscribe_to((name, 2))
    join().publish(name, b"m", qos=2, properties=properties(message_expiry=1))
    packet_id = peer.message(b"m").packet_id
    peer.close()
    pass_time(1.2)
    peer = join("a", keep=True)
    assert heads([peer.message(b"m")]) == [(0x3C, packet_id)]


@pytest.mark.statement(5, "MQTT-4.3.3-13")
def test_the_handshake_goes_on_for_an_expired_message(join, version, name):
    publisher = join()
    publisher.send(wire.publish(name, b"m", qos=2, packet_id=5, properties=properties(message_expiry=1)))
    publisher.expect(PUBREC)
    pass_time(1.2)
    publisher.send(wire.publish(name, b"m", qos=2, packet_id=5, dup=True, properties=properties(message_expiry=1)))
    assert publisher.expect(PUBREC).packet_id == 5
    publisher.send(wire.ack(PUBREL, 5))
    answer = publisher.expect(PUBCOMP)
    assert (answer.packet_id, answer.reason) == (5, 0)


@pytest.mark.statement(4, "MQTT-4.6.0-1", "MQTT-4.6.0-4", "MQTT-4.6.0-6")
@pytest.mark.statement(5, "MQTT-4.4.0-1", "MQTT-4.6.0-5")
def test_repetitions_and_releases_keep_their_order(join, version, name):
    peer, publisher = join("a", keep=True), join()
    peer.subscribe_to((name, 2))
    for number in range(12):
        publisher.publish(name, str(number).encode(), qos=1 + number % 2)
    first = [peer.message() for _ in range(12)]
    peer.close()
    peer = join("a", keep=True)
    again = [peer.message() for _ in range(12)]
    assert [found.payload for found in again] == [str(number).encode() for number in range(12)]
    assert [found.packet_id for found in again] == [found.packet_id for found in first]
    of_qos_2 = [found.packet_id for found in again if found.qos == 2]
    shuffled = [of_qos_2[at] for at in (3, 0, 5, 1, 4, 2)]
    peer.send(*(wire.ack(PUBREC, packet_id) for packet_id in shuffled))
    assert [found.packet_id for found in peer.round_trip()] == shuffled, "PUBRELs in the order of the PUBRECs"


@pytest.mark.statement(4, "MQTT-4.6.0-2", "MQTT-4.6.0-3")
@pytest.mark.statement(5, "MQTT-2.2.1-5")
def test_acknowledgements_keep_the_order_of_the_messages(join, version, name):
    publisher, subscriber = join(), join()
    subscriber.subscribe_to((f"{name}/0", 0))
    ids = [(at * 7919 + 13) % 40_000 + 1 for at in range(100)]
    publisher.send(
        *(
            wire.publish(f"{name}/{at % 3}", b"m", qos=1 + at % 2, packet_id=packet_id, version=version)
            for at, packet_id in enumerate(ids)
        )
    )
    found = publisher.round_trip()
    while len(found) < 100:
        found.append(publisher.receive())
    for kind in (PUBACK, PUBREC):
        expected = [packet_id for at, packet_id in enumerate(ids) if (PUBACK, PUBREC)[at % 2] == kind]
        assert [packet.packet_id for packet in found if packet.kind == kind] == expected


@pytest.mark.statement(4, "MQTT-4.6.0-5", "MQTT-4.6.0-6")
@pytest.mark.statement(5, "MQTT-4.6.0-5", "MQTT-4.6.0-6")
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_messages_keep_their_order(join, version, name, qos):
    subscribers, publisher = [join() for _ in range(3)], join()
    for subscriber in subscribers:
        subscriber.subscribe_to((f"{name}/+", qos))
    expected = [str(number).encode() for number in range(200)]
    publisher.send(
        *(
            wire.publish(f"{name}/x", payload, qos=qos, packet_id=at + 1, version=version)
            for at, payload in enumerate(expected)
        )
    )
    for subscriber in subscribers:
        assert [subscriber.message().payload for _ in expected] == expected


@pytest.mark.statement(4, "MQTT-4.6.0-6")
@pytest.mark.statement(5, "MQTT-4.6.0-5", "MQTT-4.5.0-1")
def test_messages_that_waited_come_before_later_ones_in_order(join, version, name):
    peer, publisher = join("a", keep=True), join()
    peer.subscribe_to((name, 1))
    peer.leave()
    for number in range(20):
        publisher.publish(name, str(number).encode(), qos=1)
    peer = join("a", keep=True)
    for number in range(20, 40):
        publisher.publish(name, str(number).encode(), qos=1)
    assert [int(peer.message().payload) for _ in range(40)] == list(range(40))


@pytest.mark.statement(5, "MQTT-4.13.1-1")
@pytest.mark.parametrize("kind", [PUBACK, PUBREC, PUBREL, PUBCOMP])
def test_codes_that_a_packet_has_not_end_the_connection(join, version, kind):
    for reason in (0x01, 0x11, 0x81, 0x8E, 0xFF):
        peer = join()
        peer.send(wire.packet(kind << 4 | (2 if kind == PUBREL else 0), b"\0\1" + bytes([reason])))
        peer.closed((0x81, 0x82))


@pytest.mark.statement(5, "MQTT-3.4.2-1", "MQTT-3.5.2-1", "MQTT-3.6.2-1", "MQTT-3.7.2-1")
def test_the_brokers_own_codes_are_those_of_their_packets(join, version, name):
    peer = join()
    peer.subscribe_to((f"{name}/x", 2))
    sent = [wire.publish(f"{name}/{topic}", qos=qos, packet_id=qos) for topic in "xy" for qos in (1, 2)]
    peer.send(*sent, wire.ack(PUBREL, 2), wire.ack(PUBREL, 77), wire.ack(PUBREC, 78))
    found = peer.round_trip()
    of_publish = {0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99}
    allowed = {PUBACK: of_publish, PUBREC: of_publish, PUBREL: {0, 0x92}, PUBCOMP: {0, 0x92}}
    assert {packet.kind for packet in found} >= {PUBACK, PUBREC, PUBREL, PUBCOMP}
    for packet in found:
        assert packet.kind == wire.PUBLISH or packet.reason in allowed[packet.kind]
