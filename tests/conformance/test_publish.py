"""PUBLISH: flags, topics, what is passed on and how, topic aliases, identifiers of subscriptions."""

from __future__ import annotations

import itertools

import pytest
import wire
from peer import pass_time, properties, properties_of
from wire import PUBACK, PUBCOMP, PUBREC, PUBREL, text


@pytest.mark.statement(4, "MQTT-3.3.1-4", "MQTT-4.8.0-1")
@pytest.mark.statement(5, "MQTT-3.3.1-4", "MQTT-4.13.1-1")
def test_qos_3_ends_the_connection(join, version):
    for flags in (6, 7, 14, 15):
        peer = join()
        peer.send(wire.packet(0x30 | flags, text("t") + b"\0\1" + (b"\0" if version == 5 else b"")))
        peer.closed(0x81)


@pytest.mark.statement(4, "MQTT-3.3.1-2")
@pytest.mark.statement(5, "MQTT-3.3.1-2")
def test_dup_of_a_qos_0_message_ends_the_connection(join, version, name):
    peer = join()
    peer.send(wire.publish(name, dup=True, version=version))
    peer.closed(0x81)


@pytest.mark.statement(4, "MQTT-3.3.1-3")
@pytest.mark.statement(5, "MQTT-3.3.1-3")
def test_dup_is_not_passed_on(join, version, name):
    subscriber, publisher = join(), join()
    subscriber.subscribe_to((name, 2))
    for qos in (1, 2):
        publisher.publish(name, b"m", qos=qos, dup=True)
        assert subscriber.message().first == 0x30 | qos << 1


@pytest.mark.statement(4, "MQTT-3.3.2-2", "MQTT-4.7.1-1")
@pytest.mark.statement(5, "MQTT-3.3.2-2", "MQTT-4.7.0-1")
@pytest.mark.parametrize("topic", ["#", "+", "a/#", "a/+/b", "a+", "#a", "$share/g/#"])
def test_wildcards_in_a_topic_name_end_the_connection(join, version, topic):
    peer = join()
    peer.send(wire.publish(topic, b"m", version=version))
    peer.closed((0x81, 0x82, 0x90))


@pytest.mark.statement(4, "MQTT-3.3.2-1")
@pytest.mark.statement(5, "MQTT-3.3.2-1")
def test_a_publish_begins_with_its_topic(join, version):
    for body in (b"", b"\0", b"\0\x05abc", b"\xff\xffabc"):
        peer = join()
        peer.send(wire.packet(0x30, body))
        peer.closed(0x81)


@pytest.mark.statement(4, "MQTT-3.3.2-1", "MQTT-3.3.2-3")
@pytest.mark.statement(5, "MQTT-3.3.2-1", "MQTT-3.3.2-3")
def test_the_topic_is_passed_on_as_it_was_to_whom_it_matches(join, version, name):
    one, two, publisher = join(), join(), join()
    one.subscribe_to((f"{name}/+/x", 0), (f"{name}/end", 0))
    two.subscribe_to((f"{name}/exact", 0), (f"{name}/end", 0))
    for topic in ("a/x", "exact", "b/x", "c/y", "end"):
        publisher.publish(f"{name}/{topic}", topic.encode())
    assert [found.topic for found in one.messages_until(b"end")] == [f"{name}/a/x", f"{name}/b/x"]
    assert [found.topic for found in two.messages_until(b"end")] == [f"{name}/exact"]


WHOLE = {
    "payload_format": [1],
    "content_type": ["text/plain; é"],
    "response_topic": ["answers/é"],
    "correlation_data": [b"\0\xff\0"],
    "user": [("b", "2"), ("a", "1"), ("b", "2"), ("", ""), ("é", "\U0001f600")],
}


@pytest.mark.statement(
    5,
    "MQTT-3.3.2-4",
    "MQTT-3.3.2-15",
    "MQTT-3.3.2-16",
    "MQTT-3.3.2-17",
    "MQTT-3.3.2-18",
    "MQTT-3.3.2-20",
)
@pytest.mark.parametrize("way", ["live", "queued", "retained"])
def test_properties_reach_every_subscriber_as_they_were(join, version, name, way):
    subscriber, other, publisher = join("s", keep=True), join(), join()
    if way != "retained":
        subscriber.subscribe_to((name, 1))
        other.subscribe_to((name, 0))
    if way == "queued":
        subscriber.leave()
    publisher.publish(name, b"text", qos=1, retain=way == "retained", properties=properties(**WHOLE))
    if way == "queued":
        subscriber = join("s", keep=True)
    for peer in (subscriber, other):
        if way == "retained":
            peer.subscribe_to((name, 0))
        assert properties_of(peer.message(b"text")) == WHOLE


@pytest.mark.statement(5, "MQTT-3.3.2-4")
def test_a_payload_format_of_zero_is_not_raised(join, version, name):
    peer = join()
    peer.subscribe_to((name, 0))
    peer.publish(name, b"\xff", properties=properties(payload_format=0))
    assert properties_of(peer.message()).get("payload_format", [0]) == [0]


@pytest.mark.statement(5, "MQTT-3.3.2-14")
@pytest.mark.parametrize("topic", ["#", "a/+"])
def test_a_response_topic_with_wildcards_ends_the_connection(join, version, topic):
    peer = join()
    peer.send(wire.publish("t", properties=properties(response_topic=topic)))
    peer.closed((0x81, 0x82, 0x90))


@pytest.mark.statement(5, "MQTT-3.3.2-5", "MQTT-3.3.2-6")
def test_waiting_counts_against_the_message_expiry(join, version, name):
    subscriber, publisher = join("s", keep=True), join()
    subscriber.subscribe_to((name, 1))
    subscriber.leave()
    for payload, expiry_s in ((b"long", 50), (b"short", 1), (b"end", 50)):
        publisher.publish(name, payload, qos=1, properties=properties(message_expiry=expiry_s))
    pass_time(1.2)
    again = join("s", keep=True)
    first = again.message(b"long")
    assert 40 <= properties_of(first)["message_expiry"][0] <= 49
    assert again.messages_until(b"end") == []


@pytest.mark.statement(5, "MQTT-3.3.2-6")
def test_a_message_that_did_not_wait_keeps_its_expiry(join, version, name):
    peer = join()
    peer.subscribe_to((name, 0))
    peer.publish(name, b"now", properties=properties(message_expiry=1000))
    assert properties_of(peer.message())["message_expiry"][0] in (999, 1000)
    peer.publish(name, b"for ever")
    assert "message_expiry" not in properties_of(peer.message())


@pytest.mark.statement(5, "MQTT-3.3.2-12")
def test_every_topic_alias_up_to_the_maximum_is_taken(join, version, name):
    peer = join()
    peer.subscribe_to((f"{name}/#", 0))
    largest = properties_of(peer.connack)["topic_alias_maximum"][0]
    for alias in range(1, largest + 1):
        peer.publish(f"{name}/{alias}", b"set", properties=properties(topic_alias=alias))
    for alias in (largest, 1):
        peer.publish("", b"used", properties=properties(topic_alias=alias))
    found = peer.messages_until(b"used")
    assert [packet.topic for packet in found] == [f"{name}/{alias}" for alias in range(1, largest + 1)]
    peer.publish(f"{name}/new", b"changed", properties=properties(topic_alias=1))
    peer.publish("", b"again", properties=properties(topic_alias=1))
    assert peer.message(b"used").topic == f"{name}/1"
    assert [peer.message().topic for _ in range(2)] == [f"{name}/new"] * 2


@pytest.mark.statement(5, "MQTT-3.3.2-7")
def test_a_topic_alias_ends_with_its_connection(join, version, name):
    first = join("a", keep=True)
    first.publish(name, b"set", qos=1, properties=properties(topic_alias=3))
    first.leave()
    again = join("a", keep=True)
    again.send(wire.publish("", b"used", properties=properties(topic_alias=3)))
    again.closed((0x82, 0x94))


@pytest.mark.statement(5, "MQTT-3.3.2-8", "MQTT-3.3.2-9", "MQTT-3.2.2-17")
def test_topic_aliases_beyond_the_range_end_the_connection(join, version, name):
    largest = properties_of(join().connack)["topic_alias_maximum"][0]
    for alias in (0, largest + 1, 65_535):
        peer = join()
        peer.send(wire.publish(name, b"m", properties=properties(topic_alias=alias)))
        peer.closed(0x94)


@pytest.mark.statement(5, "MQTT-3.1.2-26", "MQTT-3.1.2-27", "MQTT-3.3.2-8", "MQTT-3.3.2-11")
@pytest.mark.parametrize("largest", [None, 0, 2])
def test_the_broker_keeps_to_the_clients_topic_alias_maximum(join, version, name, largest):
    section = {} if largest is None else {"properties": properties(topic_alias_maximum=largest)}
    subscriber, publisher = join(None, **section), join()
    subscriber.subscribe_to((f"{name}/#", 0))
    names: dict[int, str] = {}
    for number in range(12):
        publisher.publish(f"{name}/{number % 4}", str(number).encode(), properties=properties(topic_alias=9))
        found = subscriber.message(str(number).encode())
        for alias in properties_of(found).get("topic_alias", []):
            assert 0 < alias <= (largest or 0)
            names[alias] = found.topic or names[alias]
            assert names[alias] == f"{name}/{number % 4}"


@pytest.mark.statement(4, "MQTT-3.3.4-1")
@pytest.mark.statement(5, "MQTT-3.3.4-1")
def test_each_qos_has_its_answer(join, version, name):
    peer = join()
    peer.send(wire.publish(name, qos=0, version=version))
    assert peer.round_trip() == []
    peer.send(wire.publish(name, qos=1, packet_id=7, version=version))
    assert [found.kind for found in peer.round_trip()] == [PUBACK]
    peer.send(wire.publish(name, qos=2, packet_id=7, version=version))
    assert [found.kind for found in peer.round_trip()] == [PUBREC]
    peer.send(wire.ack(PUBREL, 7))
    assert [found.kind for found in peer.round_trip()] == [PUBCOMP]


@pytest.mark.statement(4, "MQTT-3.3.5-1")
@pytest.mark.statement(5, "MQTT-3.3.4-2")
@pytest.mark.parametrize("granted", list(itertools.permutations((0, 1, 2))), ids=str)
def test_overlapping_subscriptions_give_their_highest_qos(join, version, name, granted):
    subscriber, publisher = join(), join()
    subscriber.subscribe_to(*zip((f"{name}/x", f"{name}/+", f"{name}/#"), granted, strict=True))
    for published in (0, 1, 2):
        publisher.publish(f"{name}/x", b"m", qos=published)
        assert subscriber.message(b"m").qos == published


@pytest.mark.statement(5, "MQTT-3.3.4-3", "MQTT-3.3.4-4", "MQTT-3.3.4-5")
def test_overlapping_subscriptions_give_one_copy_with_all_their_identifiers(join, version, name):
    subscriber, publisher = join(), join()
    for number, (filter_, identifier) in enumerate([("x", 1), ("+", 268_435_455), ("#", None), ("+/#", 128)], 1):
        section = b"" if identifier is None else properties(subscription_id=identifier)
        subscriber.subscribe_to((f"{name}/{filter_}", 1), packet_id=number, properties=section)
    publisher.publish(f"{name}/x", b"m", qos=1)
    publisher.publish(f"{name}/x", b"end", qos=1)
    copies = subscriber.messages_until(b"end")
    assert [sorted(properties_of(copy)["subscription_id"]) for copy in copies] == [[1, 128, 268_435_455]]


@pytest.mark.statement(5, "MQTT-3.3.4-6")
def test_a_subscription_identifier_from_a_client_ends_the_connection(join, version, name):
    peer = join()
    peer.send(wire.publish(name, properties=properties(subscription_id=1)))
    peer.closed(0x82)
