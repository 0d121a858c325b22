"""A good CONNECT: client ids, sessions that begin and go on, takeover, what CONNACK says."""

from __future__ import annotations

import contextlib
import string
import time
from itertools import pairwise

import pytest
import wire
from peer import Peer, connect_bytes, pass_time, properties, properties_of
from wire import CONNACK, PINGRESP, PUBACK

LIMITS = {"client_id_bytes_max": 64}


@pytest.mark.statement(4, "MQTT-3.1.4-4", "MQTT-3.2.0-1", "MQTT-3.2.2-1", "MQTT-7.0.0-2")
@pytest.mark.statement(5, "MQTT-3.1.4-5", "MQTT-3.2.0-1", "MQTT-3.2.2-1", "MQTT-3.2.2-2", "MQTT-3.2.2-8")
def test_an_accepted_connect_is_answered_with_zero(raw, version, name):
    peer = raw()
    peer.send(connect_bytes(version, name), wire.PING)
    answer = peer.expect(CONNACK)
    assert (answer.first, answer.body[:2]) == (0x20, b"\0\0")
    peer.expect(PINGRESP)


@pytest.mark.statement(5, "MQTT-3.2.0-2")
def test_there_is_one_connack(raw, version, name):
    peer = raw()
    peer.send(connect_bytes(version, name), *[wire.PING] * 3)
    assert [peer.receive().kind for _ in range(4)] == [CONNACK, PINGRESP, PINGRESP, PINGRESP]
    peer.send(wire.DISCONNECT_NORMAL)
    assert peer.until_end() == []


@pytest.mark.statement(4, "MQTT-3.1.3-5")
@pytest.mark.statement(5, "MQTT-3.1.3-5")
def test_plain_client_ids_of_1_to_23_bytes_are_taken(raw, version):
    letters = string.digits + string.ascii_letters
    ids = [*letters, *(letters[at : at + 23] for at in range(0, len(letters), 23)), "z" * 23]
    for client_id in ids:
        peer = raw()
        peer.send(connect_bytes(version, client_id), wire.DISCONNECT_NORMAL)
        assert peer.expect(CONNACK).reason == 0
        assert peer.until_end() == []


@pytest.mark.statement(4, "MQTT-3.1.3-6")
@pytest.mark.statement(5, "MQTT-3.1.3-6", "MQTT-3.1.3-7", "MQTT-3.2.2-16")
def test_an_empty_client_id_is_replaced_by_one_that_nobody_has(raw, version, name):
    first, second = raw(), raw()
    for peer in (first, second):
        connack = peer.join("", keep=False)
        peer.subscribe_to(name)
    if version == 5:
        ids = [properties_of(peer.connack)["assigned_client_id"][0] for peer in (first, second)]
        assert ids[0] != ids[1]
        assert all(ids)
        assert "assigned_client_id" in properties_of(connack)
    first.publish(name, b"both are connected", qos=0)
    assert first.message().payload == second.message().payload == b"both are connected"


@pytest.mark.statement(5, "MQTT-3.1.3-7")
def test_an_assigned_client_id_is_as_good_as_an_own_one(raw, version, name):
    peer = raw()
    assigned = properties_of(peer.join("", keep=True))["assigned_client_id"][0]
    peer.subscribe_to((name, 1))
    peer.leave()
    again = raw()
    again.join(assigned, keep=True)
    assert again.session_present
    assert "assigned_client_id" not in properties_of(again.connack)


@pytest.mark.statement(4, "MQTT-3.1.3-7", "MQTT-3.1.3-8", "MQTT-3.2.2-4", "MQTT-3.2.2-5")
def test_an_empty_client_id_cannot_keep_a_session(raw, version):
    peer = raw()
    peer.send(connect_bytes(version, "", flags=0))
    assert [(found.kind, found.body) for found in peer.until_end()] == [(CONNACK, b"\x00\x02")]


@pytest.mark.statement(4, "MQTT-3.1.3-9", "MQTT-3.2.2-4", "MQTT-3.2.2-5")
@pytest.mark.statement(5, "MQTT-3.1.3-8", "MQTT-3.1.4-2", "MQTT-3.2.2-6", "MQTT-3.2.2-7", "MQTT-3.14.0-1")
def test_a_client_id_that_is_too_long_is_refused(raw, version, name):
    peer = raw()
    peer.send(connect_bytes(version, "x" * 65))
    (connack,) = peer.until_end()
    assert (connack.kind, connack.body[:2]) == (CONNACK, b"\x00\x02" if version == 4 else b"\x00\x85")
    assert len(connack.body) == 2 or version == 5


@pytest.mark.statement(4, "MQTT-3.1.4-5")
@pytest.mark.statement(5, "MQTT-3.1.4-6", "MQTT-4.13.2-1")
def test_what_follows_a_refused_connect_is_not_acted_upon(raw, join, version, name):
    watcher = join()
    watcher.subscribe_to(f"{name}/#")
    refused = raw()
    published = wire.publish(f"{name}/no", b"no", qos=1, retain=True, version=version)
    refused.send(connect_bytes(version, "x" * 65), published, wire.PING)
    assert [found.kind for found in refused.until_end()] == [CONNACK]
    watcher.publish(f"{name}/yes", b"yes", qos=0)
    assert watcher.messages_until(b"yes") == []
    late = join()
    late.subscribe_to(f"{name}/no")
    assert late.round_trip() == []


@pytest.mark.statement(4, "MQTT-3.1.2-4", "MQTT-3.1.3-2", "MQTT-3.2.2-2", "MQTT-3.2.2-3", "MQTT-3.1.4-3")
@pytest.mark.statement(
    5, "MQTT-3.1.2-5", "MQTT-3.1.2-6", "MQTT-3.1.2-23", "MQTT-3.1.3-2", "MQTT-3.2.2-3", "MQTT-3.1.4-4"
)
def test_a_session_goes_on_for_its_client_id(raw, join, version, name):
    first = join("a", keep=True)
    assert not first.session_present, "there was none"
    first.subscribe_to((f"{name}/x", 1))
    first.leave()
    other = join("b", keep=True)
    assert not other.session_present, "another client id has another session"
    again = join("a", keep=True)
    assert again.session_present
    other.publish(f"{name}/x", b"still subscribed", qos=1)
    assert again.message().payload == b"still subscribed"


@pytest.mark.statement(4, "MQTT-3.1.2-6", "MQTT-3.1.4-3", "MQTT-3.2.2-1")
@pytest.mark.statement(5, "MQTT-3.1.2-4", "MQTT-3.1.4-4", "MQTT-3.2.2-2")
def test_a_clean_start_throws_the_session_away(join, version, name):
    first = join("a", keep=True)
    first.subscribe_to((f"{name}/old", 1), (f"{name}/both", 1))
    first.leave()
    other = join("b")
    other.publish(f"{name}/old", b"queued", qos=1)
    fresh = join("a", keep=True, clean=True)
    assert not fresh.session_present
    fresh.subscribe_to((f"{name}/both", 0))
    other.publish(f"{name}/old", b"nobody", qos=1)
    other.publish(f"{name}/both", b"once", qos=1)
    assert fresh.messages_until(b"once") == []
    assert fresh.round_trip() == []
    other.publish(f"{name}/both", b"qos 0 now", qos=1)
    assert fresh.message().qos == 0


@pytest.mark.statement(4, "MQTT-3.1.2-6")
@pytest.mark.statement(5, "MQTT-4.1.0-2")
def test_a_session_that_is_not_kept_ends_with_its_connection(join, version, name):
    first = join("a")
    first.subscribe_to((f"{name}/x", 1))
    first.leave()
    again = join("a", keep=True)
    assert not again.session_present
    again.publish(f"{name}/x", b"nobody", qos=1)
    assert again.round_trip() == []


@pytest.mark.statement(5, "MQTT-4.1.0-2", "MQTT-3.1.2-8", "MQTT-3.1.2-23")
def test_a_session_ends_when_its_expiry_is_over(join, version, name):
    watcher = join()
    watcher.subscribe_to(f"{name}/#")
    # The will waits longer than the session lives, so it tells when the session ends.
    will = {"will": (f"{name}/will", b"ended", 0, False), "will_properties": properties(will_delay=100)}
    mortal = join("a", keep=True, expiry_s=60, **will)
    mortal.subscribe_to((f"{name}/x", 1))
    mortal.close()
    early = join("a", keep=True, expiry_s=1, **will)
    assert early.session_present, "it lives on for a minute"
    began = time.monotonic()
    early.close()
    assert watcher.message(b"ended").topic == f"{name}/will"
    assert time.monotonic() - began >= 1
    assert not join("a", keep=True).session_present


@pytest.mark.statement(5, "MQTT-4.1.0-2", "MQTT-3.1.2-23")
def test_disconnect_may_change_the_session_expiry(join, version, name):
    first = join("a", keep=True)
    section = properties(session_expiry=0)
    first.send(wire.packet(0xE0, b"\0" + bytes([len(section)]) + section))
    assert first.until_end() == []
    assert not join("a", keep=True).session_present


@pytest.mark.statement(5, "MQTT-4.13.1-1")
def test_disconnect_may_not_give_an_expiry_that_connect_had_not(join, version):
    peer = join("a")
    section = properties(session_expiry=5)
    peer.send(wire.packet(0xE0, b"\0" + bytes([len(section)]) + section))
    peer.closed(0x82)


@pytest.mark.statement(4, "MQTT-3.1.2-5", "MQTT-4.5.0-1", "MQTT-4.1.0-1")
@pytest.mark.statement(5, "MQTT-3.1.2-5", "MQTT-3.1.2-23", "MQTT-4.5.0-1")
def test_messages_wait_for_a_client_that_is_away(join, version, name):
    first = join("a", keep=True)
    first.subscribe_to((f"{name}/+", 2))
    first.leave()
    other = join("b")
    other.publish(f"{name}/1", b"one", qos=1)
    other.publish(f"{name}/2", b"two", qos=2)
    again = join("a", keep=True)
    assert [(found.qos, found.payload) for found in (again.message(), again.message())] == [(1, b"one"), (2, b"two")]


@pytest.mark.statement(4, "MQTT-4.1.0-1", "MQTT-4.1.0-2")
@pytest.mark.statement(5, "MQTT-4.1.0-1")
def test_a_session_lasts_while_its_connection_is_open(join, version, name):
    options = {} if version == 4 else {"properties": properties(session_expiry=0)}
    peer = join("a", **options)
    peer.subscribe_to((f"{name}/x", 1))
    pass_time(0.3)
    join("b").publish(f"{name}/x", b"still here", qos=1)
    assert peer.message().payload == b"still here"


@pytest.mark.statement(4, "MQTT-3.1.4-2")
@pytest.mark.statement(5, "MQTT-3.1.4-3", "MQTT-3.14.4-1", "MQTT-3.14.4-2")
def test_the_same_client_id_takes_over(join, version, name):
    first = join("a", keep=True)
    first.subscribe_to((f"{name}/x", 1))
    second = join("a", keep=True)
    first.closed(0x8E)
    assert second.session_present
    second.publish(f"{name}/x", b"", qos=0)
    assert second.message().topic == f"{name}/x"


@pytest.mark.statement(4, "MQTT-3.2.0-1")
@pytest.mark.statement(5, "MQTT-3.2.0-1")
def test_connack_comes_before_messages_that_waited(raw, join, version, name):
    first = join("a", keep=True)
    first.subscribe_to((f"{name}/x", 1))
    first.leave()
    join("b").publish(f"{name}/x", b"waiting", qos=1)
    again = raw()
    again.send(wire.connect(first.client_id, version=version, clean=False, properties=properties(session_expiry=9)))
    assert [again.receive().kind for _ in range(2)] == [CONNACK, wire.PUBLISH]


@pytest.mark.statement(4, "MQTT-3.1.2-24")
@pytest.mark.statement(5, "MQTT-3.1.2-22", "MQTT-3.2.2-22")
def test_silence_beyond_one_and_a_half_keep_alives_ends_the_connection(join, version, name):
    watcher = join()
    watcher.subscribe_to(f"{name}/will")
    began = time.monotonic()
    silent = join("a", keep_alive_s=1, will=(f"{name}/will", b"failed", 0, False))
    if version == 5:
        assert "server_keep_alive" not in properties_of(silent.connack)
    assert watcher.message().payload == b"failed", "as after a failure of the network"
    assert time.monotonic() - began >= 1.5, "not before; how soon after is tested in Rust, with a clock of its own"
    silent.closed(0x8D)


@pytest.mark.statement(4, "MQTT-3.1.2-24")
@pytest.mark.statement(5, "MQTT-3.1.2-22")
def test_packets_in_time_keep_the_connection(join, version):
    """On a machine on which a second's pause takes longer than the Keep Alive, that is longer, too."""
    for keep_alive_s in (2, 8, 32):
        spoke, answers = [time.monotonic()], []
        peer = join("a", keep_alive_s=keep_alive_s)
        with contextlib.suppress(ConnectionError):
            for _ in range(3):
                pass_time(0.55 * keep_alive_s)
                peer.send(wire.PING)
                spoke.append(time.monotonic())
                answers.append(peer.receive())
        if max(later - sooner for sooner, later in pairwise(spoke)) < keep_alive_s:
            assert [answer and answer.kind for answer in answers] == [PINGRESP] * 3
            return
    raise AssertionError("no packet was in time")


@pytest.mark.statement(5, "MQTT-3.1.2-28")
def test_response_information_comes_only_when_asked_for(join, version):
    for asked in ({}, {"properties": properties(request_response_information=0)}):
        assert "response_information" not in properties_of(join(None, **asked).connack)


@pytest.mark.statement(4, "MQTT-7.1.1-1")
@pytest.mark.statement(5, "MQTT-4.2.0-1")
def test_many_bytes_arrive_in_order_and_whole(join, version, name):
    peer = join()
    peer.subscribe_to((f"{name}/x", 0))
    payload = bytes(at * 31 >> 3 & 255 for at in range(500_000))
    for _ in range(3):
        peer.send(wire.publish(f"{name}/x", payload, qos=1, version=version))
        found = {packet.kind: packet for packet in (peer.receive(), peer.receive())}
        assert set(found) == {wire.PUBLISH, PUBACK}
        assert found[wire.PUBLISH].payload == payload


@pytest.mark.statement(5, "MQTT-4.12.0-1", "MQTT-3.2.2-7")
def test_an_unknown_authentication_method_is_refused(raw, version, name):
    peer = raw()
    peer.send(connect_bytes(version, name, properties=properties(auth_method="NOBODY-KNOWS", auth_data=b"x")))
    found = peer.until_end()
    assert [packet.kind for packet in found] == [CONNACK]
    assert found[0].reason in (0x8C, 0x87)


@pytest.mark.statement(5, "MQTT-4.12.0-6")
def test_without_authentication_method_there_is_none_in_connack(join, version):
    peer = join()
    assert not {"auth_method", "auth_data"} & set(properties_of(peer.connack))
    assert peer.round_trip() == []


@pytest.mark.statement(5, "MQTT-4.12.0-7", "MQTT-4.13.1-1")
def test_auth_without_authentication_method_is_a_protocol_error(join, version):
    for packet in (b"\xf0\x00", wire.packet(0xF0, b"\x18\x00"), wire.packet(0xF0, b"\x19\x00")):
        peer = join()
        peer.send(packet)
        peer.closed(0x82)


@pytest.mark.statement(4, "MQTT-7.1.1-1")
@pytest.mark.statement(5, "MQTT-4.2.0-1")
def test_packets_may_come_byte_by_byte(raw, version, name):
    peer = raw()
    packets = [
        wire.connect(name, version=version),
        wire.subscribe((name, 1), version=version),
        wire.publish(name, b"in pieces", qos=1, version=version),
    ]
    for byte in b"".join(packets):
        peer.send(bytes([byte]))
    assert peer.expect(CONNACK).reason == 0
    assert {peer.receive().kind for _ in range(3)} == {wire.SUBACK, wire.PUBLISH, PUBACK}


@pytest.mark.statement(4, "MQTT-3.1.3-2", "MQTT-3.1.2-4")
@pytest.mark.statement(5, "MQTT-3.1.3-2", "MQTT-3.1.2-5")
def test_a_session_goes_on_in_the_other_version(broker, join, version, name):
    first = join("a", keep=True)
    first.subscribe_to((f"{name}/x", 1))
    first.leave()
    join("b").publish(f"{name}/x", b"waiting", qos=1)
    with Peer(broker.url, 9 - version) as other:
        other.join(first.client_id, keep=True)
        assert other.session_present
        assert other.message().payload == b"waiting"
