"""Topic names and filters, `$` topics, shared subscriptions."""

from __future__ import annotations

import time

import pytest
import wire
from peer import properties, properties_of
from wire import PUBACK, PUBREC, PUBREL, SUBACK

LIMITS = {"topic_bytes_max": 65_535, "topic_levels_max": 64}


def refused(peer, *filters):
    """A SUBSCRIBE that is refused, by its code or by the end of the connection."""
    peer.send(wire.subscribe(*filters, version=peer.version))
    answer = peer.receive()
    if answer is not None and answer.kind == SUBACK:
        return peer.codes(answer)[-1] >= 0x80
    if peer.version == 5:
        assert answer.reason in (0x81, 0x82, 0x8F)
    return peer.until_end() == []


@pytest.mark.statement(4, "MQTT-4.7.1-2")
@pytest.mark.statement(5, "MQTT-4.7.1-1")
@pytest.mark.parametrize("filter_", ["a#", "a/b#", "#/a", "a/#/b", "##", "#/", "a/#b", "+#"])
def test_a_misplaced_multi_level_wildcard_is_refused(join, version, filter_):
    assert refused(join(), filter_)


@pytest.mark.statement(4, "MQTT-4.7.1-3")
@pytest.mark.statement(5, "MQTT-4.7.1-2")
@pytest.mark.parametrize("filter_", ["a+", "+a", "a/+b", "a/b+/c", "++", "+a/#"])
def test_a_misplaced_single_level_wildcard_is_refused(join, version, filter_):
    assert refused(join(), filter_)


# filter, topics it matches, topics it does not match
MATCHES = [
    ("x/t/#", ["x/t", "x/t/", "x/t/r", "x/t/r/s"], ["x", "x/tt", "x/T", "X/t", "/x/t"]),
    ("x/+", ["x/", "x/t", "x/ "], ["x", "x/t/", "x//", "/x"]),
    ("x/+/z", ["x/y/z", "x//z"], ["x/z", "x/y/y/z", "x/y/z/"]),
    ("+/+", ["/f", "x/y", "/", "x/"], ["x", "x/y/z", "//"]),
    ("/+", ["/f", "/"], ["f", "f/", "//f"]),
    ("+", ["f", " "], ["/", "/f", "f/"]),
    ("+/y/#", ["x/y", "/y", "x/y/z", "x/y/"], ["y", "x/z/y"]),
    ("x/#", ["x", "x/", "x//", "x/y/z"], ["xx", "/x"]),
    ("#", ["x", "/", "x/y", "//"], []),
    ("x/y", ["x/y"], ["x", "x/", "x/y/", "/x/y", "X/y", "x/y "]),
    ("/", ["/"], ["//", "x/", "/x"]),
]


@pytest.mark.statement(4, "MQTT-4.7.1-2", "MQTT-4.7.1-3", "MQTT-3.3.2-3", "MQTT-4.7.3-4")
@pytest.mark.statement(5, "MQTT-4.7.1-1", "MQTT-4.7.1-2", "MQTT-3.3.2-3", "MQTT-4.7.3-4")
@pytest.mark.parametrize(("filter_", "matched", "others"), MATCHES, ids=[row[0] for row in MATCHES])
def test_filters_match_what_they_should(join, version, name, filter_, matched, others):
    subscriber, publisher = join(), join()
    subscriber.subscribe_to(filter_, f"{name}/end")
    for topic in [*matched, *others]:
        publisher.publish(topic, b"m")
    publisher.publish(f"{name}/end", b"end")
    assert [packet.topic for packet in subscriber.messages_until(b"end")] == matched


@pytest.mark.statement(4, "MQTT-4.7.2-1")
@pytest.mark.statement(5, "MQTT-4.7.2-1")
def test_leading_wildcards_do_not_match_dollar_topics(join, version, name):
    wild, exact, publisher = join(), join(), join()
    wild.subscribe_to("#", f"+/{name}/x", "+/#")
    exact.subscribe_to(f"$own/{name}/#", "$own/+/x/y")
    publisher.publish(f"$own/{name}/x", b"dollar", retain=True)
    publisher.publish(f"end/{name}", b"end {name}")
    assert exact.message().payload == b"dollar"
    found = wild.messages_until(b"end {name}")
    assert not [packet for packet in found if packet.topic.startswith("$own")]


@pytest.mark.statement(4, "MQTT-4.7.2-1")
@pytest.mark.statement(5, "MQTT-4.7.2-1")
def test_leading_wildcards_do_not_bring_retained_dollar_topics(join, version, name):
    publisher = join()
    publisher.publish(f"$own/{name}", b"dollar", qos=1, retain=True)
    peer = join()
    peer.subscribe_to(f"+/{name}")
    assert peer.round_trip() == []
    peer.send(wire.subscribe(f"$own/{name}", packet_id=2, version=version))
    peer.expect(SUBACK)
    assert peer.message().payload == b"dollar"


@pytest.mark.statement(4, "MQTT-4.7.3-1")
@pytest.mark.statement(5, "MQTT-4.7.3-1")
def test_empty_names_and_filters_are_refused(join, version):
    peer = join()
    peer.send(wire.publish("", b"m", version=version))
    peer.closed((0x81, 0x82, 0x90))
    assert refused(join(), "")
    peer = join()
    peer.send(wire.unsubscribe("", version=version))
    peer.closed((0x81, 0x82, 0x8F))


@pytest.mark.statement(4, "MQTT-4.7.3-3")
@pytest.mark.statement(5, "MQTT-4.7.3-3")
def test_a_topic_of_65535_bytes_is_passed_on_whole(join, version, name):
    topic = name + "/" + "t" * (65_535 - len(name) - 1)
    peer = join()
    peer.subscribe_to(topic)
    peer.publish(topic, b"m")
    assert peer.message(b"m").topic == topic


@pytest.mark.statement(4, "MQTT-4.7.3-4")
@pytest.mark.statement(5, "MQTT-4.7.3-4")
def test_nothing_is_normalised(join, version, name):
    alike = [
        "é",
        "e\u0301",
        "E",
        "e",
        " e",
        "e ",
        "e/",
        "//e",
        "/e",
        "\ufb01",
        "fi",
        "\u212b",
        "\u00c5",
        "%65",
        "e\u200b",
    ]
    publisher = join()
    for chosen in alike:
        subscriber = join()
        subscriber.subscribe_to(f"{name}/{chosen}", f"{name}-end")
        for topic in alike:
            publisher.publish(f"{name}/{topic}", topic.encode())
        publisher.publish(f"{name}-end", b"end")
        assert [packet.topic for packet in subscriber.messages_until(b"end")] == [f"{name}/{chosen}"]
        subscriber.leave()


@pytest.mark.statement(5, "MQTT-4.8.2-1", "MQTT-4.8.2-2")
@pytest.mark.parametrize(
    "filter_",
    [
        "$share",
        "$share/",
        "$share//x",
        "$share/g",
        "$share/g/",
        "$share/g+/x",
        "$share/#/x",
        "$share/g#/x",
        "$share/+/x",
        "$share/g/a#",
    ],
)
def test_wrong_shared_filters_are_refused(join, version, filter_):
    # "$share" alone has no share name, so it is the name of an ordinary topic.
    assert refused(join(), filter_) == (filter_ != "$share")


@pytest.fixture
def group(join, name):
    """Two members of one share group, and a publisher."""
    members = [join(who, keep=True) for who in ("one", "two")]
    for member in members:
        assert member.subscribe_to((f"$share/g/{name}", 2)) == b"\2"
    return [*members, join("publisher")]


@pytest.mark.statement(5, "MQTT-4.8.2-1", "MQTT-4.8.2-2")
def test_a_message_goes_to_one_member_of_a_group(join, group, version, name):
    one, two, publisher = group
    for number in range(10):
        publisher.publish(name, str(number).encode(), qos=0)
    found, deadline = [], time.monotonic() + wire.TIMEOUT_S
    while len(found) < 10:
        assert time.monotonic() < deadline, found
        # What comes first comes by a way of its own: nothing sent behind it shows that it has all come.
        found += one.round_trip() + two.round_trip()
    found += one.round_trip() + two.round_trip()
    assert sorted(int(packet.payload) for packet in found) == list(range(10))


@pytest.mark.statement(5, "MQTT-4.8.2-3")
def test_each_member_has_its_own_granted_qos(join, version, name):
    members = {qos: join(f"m{qos}") for qos in (0, 1, 2)}
    for qos, member in members.items():
        assert member.subscribe_to((f"$share/g/{name}", qos)) == bytes([qos])
    publisher = join()
    for _ in range(9):
        publisher.publish(name, b"m", qos=2)
    publisher.publish(f"{name}/x", b"", qos=1)
    for qos, member in members.items():
        assert {member.message().qos for _ in range(2)} == {qos}


def chosen_of(group, name, qos):
    """Publishes; gives the member that got the message, the other one, and the packet."""
    one, two, publisher = group
    publisher.publish(name, b"m", qos=qos)
    deadline = time.monotonic() + wire.TIMEOUT_S
    while time.monotonic() < deadline:
        for chosen, other in ((one, two), (two, one)):
            if found := chosen.round_trip():
                return chosen, other, found[0]
    raise AssertionError("no member got the message")


@pytest.mark.statement(5, "MQTT-4.8.2-4")
def test_a_qos_2_message_is_completed_with_its_member(join, group, version, name):
    chosen, other, packet = chosen_of(group, name, 2)
    chosen.close()
    assert other.round_trip() == []
    who = chosen.client_id.rsplit("-", 1)[1]
    again = join(who, keep=True)
    repeated = again.message(b"m")
    assert (repeated.first, repeated.packet_id) == (0x3C, packet.packet_id)
    again.send(wire.ack(PUBREC, packet.packet_id))
    assert again.expect(PUBREL).packet_id == packet.packet_id


@pytest.mark.statement(5, "MQTT-4.8.2-5")
def test_a_message_under_way_ends_with_the_session_of_its_member(join, group, version, name):
    chosen, other, _ = chosen_of(group, name, 2)
    chosen.close()
    join(chosen.client_id.rsplit("-", 1)[1], clean=True)
    group[2].publish(name, b"next", qos=2)
    assert other.message().payload == b"next"


@pytest.mark.statement(5, "MQTT-4.8.2-6", "MQTT-4.4.0-2")
@pytest.mark.parametrize(("qos", "kind"), [(1, PUBACK), (2, PUBREC)])
def test_a_message_that_its_member_refuses_goes_to_no_other(join, group, version, name, qos, kind):
    chosen, other, packet = chosen_of(group, name, qos)
    chosen.send(wire.packet(kind << 4, packet.packet_id.to_bytes(2) + b"\x83"))
    assert chosen.round_trip() == []
    chosen.leave()
    group[2].publish(name, b"next", qos=2)
    assert other.messages_until(b"next") == []


@pytest.mark.statement(5, "MQTT-4.8.2-3")
def test_a_shared_subscription_has_its_identifier(join, version, name):
    peer = join()
    peer.subscribe_to((f"$share/g/{name}", 0), properties=properties(subscription_id=7))
    join().publish(name, b"m")
    assert properties_of(peer.message())["subscription_id"] == [7]
