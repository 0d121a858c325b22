"""Probes: sent to who asks for them, answered by a raw client, and what they are worth behind a proxy."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import wire
from members import IGNORED, UNHURRIED, Member, counted, member, publish, said, until_member

import lapwing

PROXIED = {"url": "tcp://127.0.0.1:0", "behind_proxy": True}
HEADER = b"PROXY TCP4 192.0.2.7 198.51.100.1 56324 1883\r\n"
AWAY_S = 0.04


def probe_id(probe: wire.Packet, client_id: str) -> int:
    """The number to be answered; a probe is what it should be."""
    assert (probe.topic, probe.qos, probe.retain) == (f"$lapwing/probe/{client_id}", 0, False)
    content = json.loads(probe.payload)
    assert set(content) == {"probe"}
    return int(content["probe"])


@pytest.mark.parametrize("version", [4, 5])
def test_probes_come_to_who_asks(version):
    """Do they come without a subscription, numbered, at the pace asked for, whether they are answered or not?"""
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker:
        declares = said(probe=100) if version == 5 else b""
        began = time.monotonic()
        with Member.of(broker.url, "c", share=None, version=version, declares=declares) as client:
            if version == 4:
                client.report(probe_ms=100)
            probes = [client.probe() for _ in range(6)]
            took_s = time.monotonic() - began
            assert [probe_id(probe, "c") for probe in probes] == list(range(6))
            assert 0.4 < took_s < 30


def test_nobody_is_probed_unasked():
    with (
        lapwing.Broker(shards=2, groups=UNHURRIED) as broker,
        Member.of(broker.url, "c", declares=said(probe=10)) as client,
    ):
        time.sleep(0.2)
        assert client.pending() == []


def answer(client: Member, count: int, client_id: str = "c", **more: object) -> None:
    """Answers so many probes as somebody who is AWAY_S away."""
    for _ in range(count):
        number = probe_id(client.probe(), client_id)
        time.sleep(AWAY_S)
        client.report(probe=number, **more)


def is_near(seen: dict[str, Any]) -> bool:
    """Nearer than anybody whose answers are late."""
    return bool(0 <= seen["rtt_ms"] < 1e3 * AWAY_S)


def is_away(seen: dict[str, Any], began: float) -> bool:
    """As far as its answers were late at least, and not farther than the time since the first of them could come."""
    return bool(1e3 * AWAY_S <= seen["rtt_ms"] <= 1e3 * (time.monotonic() - began))


def test_the_way_is_known_before_the_first_message():
    """Does a group that was just joined know what the kernel, or behind a proxy a probe, has measured before?"""
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, Member.of(broker.url, "near"):
        assert until_member(broker, "near", is_near)["picks"] == 0
    began = time.monotonic()
    with (
        lapwing.Broker(listeners=[PROXIED], shards=2, groups=UNHURRIED) as broker,
        Member.of(broker.url, "c", share=None, declares=said(probe=60_000)) as client,
    ):
        answer(client, 1)
        client.subscribe(("$share/g/t", 1))
        until_member(broker, "c", lambda seen: is_away(seen, began))


def test_a_probe_measures_the_way_behind_a_proxy():
    """Is the way to a member behind a proxy what its probes say, with no message at all?"""
    with (
        lapwing.Broker(listeners=[PROXIED], shards=2, groups=UNHURRIED) as broker,
        Member.of(broker.url, "c", declares=said(probe=60)) as client,
    ):
        began = time.monotonic()
        answer(client, 4)
        seen = until_member(broker, "c", lambda seen: is_away(seen, began))
        assert seen["picks"] == 0


def test_the_kernel_is_believed_where_there_is_no_proxy():
    """Does a client that answers late look no farther than it is? The kernel's figure comes with an acknowledgement."""
    with (
        lapwing.Broker(shards=2, groups=UNHURRIED) as broker,
        Member.of(broker.url, "c", declares=said(probe=60)) as client,
    ):
        answer(client, 2)
        publish(broker, b"m")
        while (message := client.expect(wire.PUBLISH)).topic != "t/a":
            pass
        client.acknowledge(message)
        until_member(broker, "c", is_near)


@pytest.mark.parametrize("kind", ["listener", "header"])
def test_a_member_behind_a_proxy_does_not_look_near(kind):
    """Far away behind a near proxy, without probes: is the kernel's figure for the near leg left alone?"""
    header = {"url": "tcp://127.0.0.1:0", "proxy_protocol_from": ["127.0.0.0/8"]}
    with (
        lapwing.Broker(listeners=[PROXIED if kind == "listener" else header], shards=2, groups=UNHURRIED) as broker,
        Member(broker.url) as client,
    ):
        client.send((HEADER if kind == "header" else b"") + wire.connect("c"))
        client.expect(wire.CONNACK)
        client.subscribe(("$share/g/t/#", 1))
        with Member(broker.url) as publisher:
            publisher.send((HEADER if kind == "header" else b"") + wire.connect("publisher"))
            publisher.expect(wire.CONNACK)
            for number in range(1, 11):
                publisher.send(wire.publish("t/a", b"m", qos=1, packet_id=number))
                publisher.expect(wire.PUBACK)
                (message,) = client.messages(1)
                time.sleep(AWAY_S)
                client.acknowledge(message)
        seen = until_member(broker, "c", lambda seen: bool(seen["acknowledged"] == 10))
        # It is 40 ms away or works for so long: nobody can tell which, but the sum is not less.
        assert seen["rtt_ms"] + seen["service_ms"] > 1e3 * AWAY_S * 0.9


def test_answers_to_nothing_are_counted():
    """Are a made-up number, one answered already, and one of somebody else's probes counted and worth nothing?"""
    with (
        lapwing.Broker(listeners=[PROXIED], shards=2, groups=UNHURRIED) as broker,
        Member.of(broker.url, "c", declares=said(probe=60_000)) as client,
    ):
        number = probe_id(client.probe(), "c")
        time.sleep(AWAY_S)
        client.report(probe=number)
        far = until_member(broker, "c", lambda seen: seen["rtt_ms"] >= 1e3 * AWAY_S)
        for foreign in (number, number + 1):
            with counted(broker, IGNORED, 1):
                client.report(probe=foreign)
        with Member.of(broker.url, "stranger", share=None) as stranger, counted(broker, IGNORED, 1):
            stranger.report(probe=number)
        assert member(broker, "c")["rtt_ms"] == far["rtt_ms"]


def test_an_answer_may_bring_a_report():
    with (
        lapwing.Broker(shards=2, groups=UNHURRIED) as broker,
        Member.of(broker.url, "c", declares=said(probe=60)) as client,
    ):
        answer(client, 1, queue=0, service_us=7_000)
        until_member(broker, "c", lambda seen: seen["service_ms"] == pytest.approx(7.0))


def test_probes_end_with_their_connection_and_begin_with_the_next():
    """Are ids of a new connection its own, and does an old answer count for nothing?"""
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker:
        with Member.of(broker.url, "c", declares=said(probe=50)) as client:
            assert [probe_id(client.probe(), "c") for _ in range(3)] == [0, 1, 2]
        with Member.of(broker.url, "c", declares=said(probe=50)) as client:
            assert [probe_id(client.probe(), "c") for _ in range(3)] == [0, 1, 2]
        with Member.of(broker.url, "c") as client:
            time.sleep(0.15)
            assert client.pending() == []


def test_a_client_id_with_wildcards_is_probed_too():
    with (
        lapwing.Broker(shards=2, groups=UNHURRIED) as broker,
        Member.of(broker.url, "a+b/#", share=None, declares=said(probe=50)) as client,
    ):
        assert probe_id(client.probe(), "a_b/_") == 0
