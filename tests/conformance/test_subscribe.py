"""SUBSCRIBE and UNSUBSCRIBE: what is granted, replaced, compared and answered; PINGREQ."""

from __future__ import annotations

import pytest
import wire
from peer import properties
from wire import PINGRESP, PUBREC, PUBREL, SUBACK, UNSUBACK, text

NO_LOCAL = 0x04


@pytest.mark.statement(
    4, "MQTT-3.8.4-1", "MQTT-3.8.4-2", "MQTT-3.8.4-4", "MQTT-3.8.4-5", "MQTT-3.9.3-1", "MQTT-3.9.3-2"
)
@pytest.mark.statement(
    5,
    "MQTT-3.8.4-1",
    "MQTT-3.8.4-2",
    "MQTT-3.8.4-5",
    "MQTT-3.8.4-6",
    "MQTT-3.8.4-7",
    "MQTT-3.9.3-1",
    "MQTT-3.9.3-2",
)
def test_one_suback_has_a_code_for_each_filter_in_order(join, version, name):
    peer, publisher = join(), join()
    asked = [(f"{name}/{number}", qos) for number, qos in enumerate([2, 0, 1, 1, 0, 1])]
    peer.send(wire.subscribe(*asked, packet_id=777, version=version))
    suback = peer.expect(SUBACK)
    assert suback.packet_id == 777
    assert peer.codes(suback) == bytes([2, 0, 1, 1, 0, 1])
    for topic, qos in asked:
        publisher.publish(topic, topic.encode(), qos=2)
        assert peer.message(topic.encode()).qos == qos
    assert all(found.kind != SUBACK for found in peer.round_trip())


@pytest.mark.statement(4, "MQTT-3.8.4-3")
@pytest.mark.statement(5, "MQTT-3.8.4-3", "MQTT-3.8.4-4")
def test_the_same_filter_replaces_its_subscription(join, version, name):
    peer, publisher = join(), join()
    peer.subscribe_to((f"{name}/x", 2), (f"{name}/x", 1))
    peer.subscribe_to((f"{name}/x", 0))
    publisher.publish(f"{name}/x", b"once", qos=2)
    publisher.publish(f"{name}/x", b"end", qos=2)
    assert [(found.payload, found.qos) for found in peer.messages_until(b"end")] == [(b"once", 0)]


@pytest.mark.statement(4, "MQTT-3.8.4-3")
@pytest.mark.statement(5, "MQTT-3.8.4-4")
def test_no_message_is_lost_while_a_subscription_is_replaced(join, version, name):
    peer, publisher = join(), join()
    peer.subscribe_to((name, 1))
    got = []
    for number in range(50):
        publisher.send(wire.publish(name, str(number).encode(), qos=1, packet_id=number + 1, version=version))
        peer.send(wire.subscribe((name, 1), packet_id=number + 1, version=version))
    while len(got) < 50:
        packet = peer.receive()
        assert packet.kind in (SUBACK, wire.PUBLISH)
        if packet.kind == wire.PUBLISH:
            got.append(int(packet.payload))
            peer.send(wire.ack(wire.PUBACK, packet.packet_id))
    assert got == list(range(50))


@pytest.mark.statement(4, "MQTT-3.8.4-6")
@pytest.mark.statement(5, "MQTT-3.8.4-8", "MQTT-3.8.4-7")
@pytest.mark.parametrize("granted", [0, 1, 2])
@pytest.mark.parametrize("published", [0, 1, 2])
def test_messages_come_at_the_lower_qos(join, version, name, granted, published):
    peer = join()
    assert peer.subscribe_to((name, granted)) == bytes([granted])
    join().publish(name, b"m", qos=published)
    assert peer.message(b"m").qos == min(granted, published)


@pytest.mark.statement(4, "MQTT-3.8.3-3", "MQTT-4.8.0-1")
@pytest.mark.statement(5, "MQTT-3.8.3-2")
def test_a_subscribe_without_filter_ends_the_connection(join, version):
    peer = join()
    peer.send(wire.subscribe(version=version))
    peer.closed((0x81, 0x82))


@pytest.mark.statement(4, "MQTT-3-8.3-4")
def test_reserved_bits_and_qos_3_make_a_subscribe_malformed(join, version, name):
    for options in [3, 4, 8, 16, 32, 64, 128, 0xFF]:
        peer = join()
        peer.send(wire.subscribe((name, 0), (name, options), version=version))
        peer.closed()


@pytest.mark.statement(5, "MQTT-3.8.3-5")
def test_reserved_bits_make_a_subscribe_malformed(join, version, name):
    for options in [0x40, 0x80, 0xC0, 0x41]:
        peer = join()
        peer.send(wire.subscribe((name, 0), (name, options)))
        peer.closed(0x81)


@pytest.mark.statement(5, "MQTT-4.13.1-1")
def test_values_that_do_not_exist_in_the_options_end_the_connection(join, version, name):
    for options in [0x03, 0x30]:
        peer = join()
        peer.send(wire.subscribe((name, options)))
        peer.closed((0x81, 0x82))


@pytest.mark.statement(5, "MQTT-3.8.3-3")
def test_no_local_keeps_a_clients_own_messages_from_it(join, version, name):
    peer, other = join("a"), join("b")
    peer.subscribe_to((f"{name}/x", 1 | NO_LOCAL))
    other.subscribe_to((f"{name}/x", 1))
    peer.publish(f"{name}/x", b"own", qos=1)
    assert other.message().payload == b"own"
    other.send(wire.publish(f"{name}/x", b"foreign", qos=0))
    assert peer.messages_until(b"foreign") == []


@pytest.mark.statement(5, "MQTT-3.8.3-3")
def test_no_local_goes_by_the_client_id(join, version, name):
    first = join("a", keep=True)
    first.subscribe_to((f"{name}/x", 1 | NO_LOCAL))
    first.publish(f"{name}/other", b"", qos=1)
    first.leave()
    again = join("a", keep=True)
    again.publish(f"{name}/x", b"own", qos=1)
    join("b").publish(f"{name}/x", b"foreign", qos=1)
    assert again.messages_until(b"foreign") == []


@pytest.mark.statement(5, "MQTT-3.8.3-4")
def test_no_local_on_a_shared_subscription_is_a_protocol_error(join, version, name):
    peer = join()
    peer.send(wire.subscribe((f"$share/g/{name}", NO_LOCAL)))
    peer.closed(0x82)


@pytest.mark.statement(4, "MQTT-3.10.4-1", "MQTT-3.10.4-2", "MQTT-3.10.4-4", "MQTT-3.10.4-5", "MQTT-3.10.4-6")
@pytest.mark.statement(
    5,
    "MQTT-3.10.4-1",
    "MQTT-3.10.4-2",
    "MQTT-3.10.4-4",
    "MQTT-3.10.4-5",
    "MQTT-3.10.4-6",
    "MQTT-3.11.3-1",
    "MQTT-3.11.3-2",
)
def test_unsubscribe_deletes_what_is_equal_and_nothing_else(join, version, name):
    peer, publisher = join(), join()
    peer.subscribe_to((f"{name}/+", 0), (f"{name}/a", 0), (f"{name}/b/c", 0))
    asked = [f"{name}/#", f"{name}/+", f"{name}/A", f"{name}/b/+", f"{name}/a"]
    peer.send(wire.unsubscribe(*asked, packet_id=778, version=version))
    unsuback = peer.expect(UNSUBACK)
    assert unsuback.packet_id == 778
    assert peer.codes(unsuback) == (b"\x11\x00\x11\x11\x00" if version == 5 else b"")
    for topic in ("a", "other", "b/c"):
        publisher.publish(f"{name}/{topic}", topic.encode())
    assert peer.messages_until(b"b/c") == []
    assert peer.round_trip() == [], "one UNSUBACK for all"


@pytest.mark.statement(4, "MQTT-3.10.4-5")
@pytest.mark.statement(5, "MQTT-3.10.4-5", "MQTT-3.11.3-2")
def test_unsubscribe_is_answered_even_if_there_was_nothing(join, version, name):
    peer = join()
    peer.send(wire.unsubscribe(name, packet_id=5, version=version))
    unsuback = peer.expect(UNSUBACK)
    assert (unsuback.packet_id, peer.codes(unsuback)) == (5, b"\x11" if version == 5 else b"")


@pytest.mark.statement(4, "MQTT-3.10.4-3")
@pytest.mark.statement(5, "MQTT-3.10.4-3")
def test_what_has_begun_is_completed_after_unsubscribe(join, version, name):
    peer, publisher = join("a", keep=True), join()
    peer.subscribe_to((name, 2))
    publisher.publish(name, b"one", qos=1)
    publisher.publish(name, b"two", qos=2)
    one, two = peer.message(b"one"), peer.message(b"two")
    peer.send(wire.unsubscribe(name, version=version))
    peer.expect(UNSUBACK)
    peer.send(wire.ack(PUBREC, two.packet_id))
    assert peer.expect(PUBREL).packet_id == two.packet_id
    peer.close()
    again = join("a", keep=True)
    assert again.message(b"one").packet_id == one.packet_id
    assert again.expect(PUBREL).packet_id == two.packet_id


@pytest.mark.statement(4, "MQTT-3.10.3-2", "MQTT-4.8.0-1")
@pytest.mark.statement(5, "MQTT-3.10.3-2")
def test_an_unsubscribe_without_filter_ends_the_connection(join, version):
    peer = join()
    peer.send(wire.unsubscribe(version=version))
    peer.closed((0x81, 0x82))


@pytest.mark.statement(4, "MQTT-3.10.3-1")
@pytest.mark.statement(5, "MQTT-3.10.3-1")
def test_an_unsubscribe_that_ends_within_a_filter_is_malformed(join, version):
    peer = join()
    peer.send(wire.packet(0xA2, b"\0\1" + (b"\0" if version == 5 else b"") + text("a") + b"\0\5b"))
    peer.closed(0x81)


@pytest.mark.statement(4, "MQTT-3.12.4-1")
@pytest.mark.statement(5, "MQTT-3.12.4-1")
def test_each_ping_is_answered(join, version):
    peer = join()
    peer.send(*[wire.PING] * 5)
    found = [peer.receive() for _ in range(5)]
    assert [(packet.first, packet.body) for packet in found] == [(PINGRESP << 4, b"")] * 5


@pytest.mark.statement(5, "MQTT-4.13.1-1")
@pytest.mark.parametrize("section", [b"\x0b\x00", properties(subscription_id=[1, 2])])
def test_wrong_subscription_identifiers_end_the_connection(join, version, name, section):
    peer = join()
    peer.send(wire.subscribe(name, properties=section))
    peer.closed(0x82)
