"""What a client allows: Receive Maximum, Maximum Packet Size, no reasons; and what the broker allows it."""

from __future__ import annotations

import pytest
import wire
from peer import connect_bytes, properties, properties_of
from wire import CONNACK, DISCONNECT, PINGRESP, PUBACK, PUBCOMP, PUBLISH, PUBREC, PUBREL, SUBACK, UNSUBACK

LIMITS = {
    "receive_maximum": 4,
    "packet_bytes_max": "64KiB",
    "client_id_bytes_max": 128,
    "subscriptions_per_session_max": 8,
}


@pytest.mark.statement(5, "MQTT-3.3.4-9", "MQTT-4.9.0-1", "MQTT-4.9.0-2")
@pytest.mark.parametrize("qos", [1, 2])
def test_the_broker_keeps_to_the_clients_receive_maximum(join, version, name, qos):
    peer, publisher = join(None, properties=properties(receive_maximum=3)), join()
    peer.subscribe_to((name, qos), (f"{name}/end", 0))
    for number in range(9):
        publisher.publish(name, str(number).encode(), qos=qos)
    publisher.publish(f"{name}/end", b"first three")
    under_way = peer.messages_until(b"first three")
    assert [found.payload for found in under_way] == [b"0", b"1", b"2"]
    for number in range(3, 9):
        packet_id = under_way.pop(0).packet_id
        if qos == 1:
            peer.send(wire.ack(PUBACK, packet_id))
        else:
            peer.send(wire.ack(PUBREC, packet_id))
            assert [found.kind for found in peer.round_trip()] == [PUBREL], "PUBREC alone gives no room"
            peer.send(wire.ack(PUBCOMP, packet_id))
        after = peer.round_trip()
        assert [found.payload for found in after] == [str(number).encode()]
        under_way += after


@pytest.mark.statement(5, "MQTT-3.3.4-9", "MQTT-4.9.0-2")
def test_a_pubrec_with_an_error_gives_room(join, version, name):
    peer, publisher = join(None, properties=properties(receive_maximum=1)), join()
    peer.subscribe_to((name, 2))
    for payload in (b"one", b"two"):
        publisher.publish(name, payload, qos=2)
    packet_id = peer.message(b"one").packet_id
    peer.send(wire.packet(0x50, packet_id.to_bytes(2) + b"\x97"))
    assert peer.message().payload == b"two"


@pytest.mark.statement(5, "MQTT-3.3.4-10", "MQTT-4.9.0-3")
def test_other_packets_do_not_wait_for_room(join, version, name):
    peer, publisher = join(None, properties=properties(receive_maximum=1)), join()
    peer.subscribe_to((name, 1), (f"{name}/0", 0))
    for _ in range(2):
        publisher.publish(name, b"m", qos=1)
    peer.message()
    peer.send(
        wire.subscribe(f"{name}/y", packet_id=2),
        wire.publish(f"{name}/0", b"qos 0", qos=2, packet_id=3),
        wire.ack(PUBREL, 3),
    )
    found = [peer.receive().kind for _ in range(4)]
    assert sorted(found) == sorted([SUBACK, PUBREC, PUBCOMP, PUBLISH])
    peer.send(wire.unsubscribe(f"{name}/y", packet_id=4), wire.PING)
    assert sorted(peer.receive().kind for _ in range(2)) == sorted([UNSUBACK, PINGRESP])


@pytest.mark.statement(5, "MQTT-3.3.4-7", "MQTT-4.9.0-2", "MQTT-4.13.1-1")
def test_a_client_beyond_the_receive_maximum_is_disconnected(join, version, name):
    peer = join()
    assert properties_of(peer.connack)["receive_maximum"] == [4]
    for packet_id in range(1, 5):
        peer.send(wire.publish(name, qos=2, packet_id=packet_id))
        peer.expect(PUBREC)
    assert peer.round_trip() == []
    peer.send(wire.publish(name, qos=2, packet_id=5))
    peer.closed(0x93)


@pytest.mark.statement(5, "MQTT-3.2.2-15", "MQTT-4.13.1-1")
def test_a_packet_beyond_the_brokers_maximum_ends_the_connection(join, version, name):
    peer = join()
    assert properties_of(peer.connack)["maximum_packet_size"] == [65_536]
    head = len(wire.publish(name, b"")) + 2
    peer.publish(name, b"x" * (65_536 - head), qos=0)
    assert peer.round_trip() == []
    peer.send(wire.publish(name, b"x" * (65_536 - head + 1)))
    peer.closed(0x95)


@pytest.mark.statement(4, "MQTT-4.8.0-2")
def test_a_packet_that_the_broker_has_no_room_for_ends_the_connection(join, version, name):
    # 3.1.1 cannot tell clients a largest packet: one beyond it is the specification's example, a buffer that is full.
    # A message that large is no such error: it is acknowledged and dropped (docs/faults.md).
    peer = join()
    peer.send(b"\x82" + b"\x80\x80\x04" + b"x" * 65_536)
    peer.closed()


@pytest.mark.statement(5, "MQTT-3.1.2-24", "MQTT-3.1.2-25")
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_message_too_large_for_a_client_is_dropped_for_it_alone(join, version, name, qos):
    small, other, publisher = join(None, properties=properties(maximum_packet_size=200)), join(), join()
    for peer in (small, other):
        peer.subscribe_to((name, qos))
    head = len(wire.publish(name, b"", qos=qos)) + 1  # a length above 127 takes two bytes
    fits, exceeds = b"x" * (200 - head), b"y" * (201 - head)
    # More of them than the Receive Maximum of 4 would let wait: they count as delivered.
    for _ in range(6):
        publisher.publish(name, exceeds, qos=qos)
    publisher.publish(name, fits, qos=qos)
    assert small.message().payload == fits
    assert [other.message().payload for _ in range(4)] == [exceeds] * 4


@pytest.mark.statement(5, "MQTT-3.1.2-24", "MQTT-3.1.2-25")
def test_properties_count_for_the_maximum_packet_size(join, version, name):
    peer = join(None, properties=properties(maximum_packet_size=150))
    peer.subscribe_to((name, 1))
    other = join()
    other.publish(name, b"m", qos=1, properties=properties(user=("k", "v" * 150)))
    other.publish(name, b"small", qos=1)
    assert peer.message().payload == b"small"


def shortest(join):
    """The Maximum Packet Size that CONNACK just keeps to."""
    connack = join().connack
    return len(wire.packet(connack.first, connack.body))


@pytest.mark.statement(
    5,
    "MQTT-3.6.2-2",
    "MQTT-3.6.2-3",
    "MQTT-3.7.2-2",
    "MQTT-3.7.2-3",
    "MQTT-3.11.2-1",
    "MQTT-3.11.2-2",
    "MQTT-3.1.2-24",
    "MQTT-3.1.2-29",
)
@pytest.mark.parametrize(
    ("kind", "packet"),
    [(PUBREL, wire.ack(PUBREC, 9)), (PUBCOMP, wire.ack(PUBREL, 9)), (UNSUBACK, wire.unsubscribe("t"))],
    ids=["PUBREL", "PUBCOMP", "UNSUBACK"],
)
def test_what_is_never_explained_has_no_properties(join, version, kind, packet):
    """The broker has no words for these. They fit even where CONNACK just does."""
    peer = join(None, properties=properties(maximum_packet_size=(size := shortest(join))))
    for asking in (peer, join()):
        asking.send(packet)
        answer = asking.expect(kind)
        assert properties_of(answer) == {}
        assert len(wire.packet(answer.first, answer.body)) <= size


@pytest.mark.statement(5, "MQTT-3.14.2-3", "MQTT-3.14.2-4", "MQTT-3.1.2-24", "MQTT-4.13.2-1")
def test_disconnect_keeps_to_the_size(join, version, name):
    size = shortest(join)
    for more in range(0, 80, 8):
        peer = join(None, properties=properties(maximum_packet_size=size + more))
        peer.send(b"\xc1\x00")
        (disconnect,) = peer.until_end()
        assert disconnect.kind == DISCONNECT
        assert len(wire.packet(disconnect.first, disconnect.body)) <= size + more


def connack_lengths(raw, client_id, sizes):
    """The length of the CONNACK for a client with each Maximum Packet Size; 0: the connection ends without one."""
    lengths = []
    for size in sizes:
        peer = raw()
        packet = connect_bytes(5, client_id, properties=properties(maximum_packet_size=size))
        peer.send(packet, wire.DISCONNECT_NORMAL)
        found = peer.until_end()
        assert [packet.kind for packet in found] in ([], [CONNACK])
        lengths.append(sum(len(wire.packet(packet.first, packet.body)) for packet in found))
    return lengths


@pytest.mark.statement(5, "MQTT-3.2.2-19", "MQTT-3.2.2-20", "MQTT-3.1.2-24")
@pytest.mark.parametrize("client_id", ["", "x" * 129], ids=["accepted", "refused"])
def test_connack_keeps_to_the_size(raw, version, client_id):
    """Is there a CONNACK from the size on into which one fits, and none that is larger than what was asked for?"""
    sizes = range(5, 90, 4)
    lengths = connack_lengths(raw, client_id, sizes)
    assert all(length <= size for length, size in zip(lengths, sizes, strict=True))
    first = next((at for at, length in enumerate(lengths) if length), None)
    assert first is not None, "no CONNACK even where there is room for one"
    assert all(lengths[first:])


@pytest.mark.statement(5, "MQTT-3.1.2-24")
def test_a_refusal_keeps_to_a_size_of_less_than_five_bytes(raw, version):
    """No CONNACK of MQTT 5.0 is so short: is there none, and is there one as soon as there is room?"""
    for client_id in ("x", "x" * 129):
        assert connack_lengths(raw, client_id, range(1, 5)) == [0] * 4
    assert connack_lengths(raw, "x" * 129, [5]) == [5]


@pytest.mark.statement(5, "MQTT-3.9.3-2", "MQTT-3.8.4-7", "MQTT-3.9.3-1")
def test_a_subscription_beyond_the_limit_fails_alone(join, version, name):
    peer = join()
    codes = peer.subscribe_to(*((f"{name}/{at}", 1) for at in range(9)))
    assert codes == b"\1" * 8 + b"\x97"


@pytest.mark.statement(4, "MQTT-3.9.3-2", "MQTT-3.8.4-5")
def test_a_subscription_beyond_the_limit_fails_with_0x80(join, version, name):
    peer = join()
    assert peer.subscribe_to(*((f"{name}/{at}", 1) for at in range(9))) == b"\1" * 8 + b"\x80"


@pytest.mark.statement(5, "MQTT-3.3.4-9", "MQTT-4.9.0-1", "MQTT-4.9.0-2")
def test_repetitions_keep_to_the_receive_maximum_of_the_new_connection(join, version, name):
    peer, publisher = join("a", keep=True, properties=properties(receive_maximum=10)), join()
    peer.subscribe_to((name, 2))
    for number in range(4):
        publisher.publish(name, str(number).encode(), qos=2)
    ids = [peer.message().packet_id for _ in range(4)]
    peer.send(wire.ack(PUBREC, ids[0]))
    peer.expect(PUBREL)
    peer.close()
    peer = join("a", keep=True, properties=properties(receive_maximum=2))
    assert [(found.kind, found.packet_id) for found in peer.round_trip()] == [(PUBREL, ids[0]), (PUBLISH, ids[1])]
    peer.send(wire.ack(PUBCOMP, ids[0]))
    assert [(found.kind, found.packet_id) for found in peer.round_trip()] == [(PUBLISH, ids[2])]


@pytest.mark.statement(5, "MQTT-3.1.2-24", "MQTT-3.1.2-25")
@pytest.mark.parametrize("qos", [1, 2])
def test_a_repetition_too_large_for_the_new_connection_is_done(join, version, name, qos):
    peer, publisher = join("a", keep=True), join()
    peer.subscribe_to((name, qos))
    for payload in (b"large" * 50, b"small"):
        publisher.publish(name, payload, qos=qos)
    assert [len(peer.message().payload) for _ in range(2)] == [250, 5]
    peer.close()
    for size in (200, 1000):
        peer = join("a", keep=True, properties=properties(maximum_packet_size=size))
        assert [found.payload for found in peer.round_trip()] == [b"small"]
        peer.close()
