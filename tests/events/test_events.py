"""What clients do, as messages of the broker: what they say, who gets them, and that none is lost in silence."""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import paho.mqtt.client as paho
import pytest
from commands import RunningBroker

import lapwing
from lapwing._core import hash_password
from lapwing.auth import User, update_users

TIMEOUT_S = 30
BOTH = pytest.mark.parametrize("shards", [1, 2])


class Reader:
    """Reads events of clients other than itself."""

    def __init__(self, url: str, filter_: str = "$lapwing/events/#", *, client_id: str = "reader") -> None:
        self._events: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self._granted: queue.Queue[Any] = queue.Queue()
        self._id = client_id
        self._client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id, protocol=paho.MQTTv5)
        self._client.on_message = lambda _client, _data, message: self._add(message)
        self._client.on_subscribe = lambda _client, _data, _mid, reasons, _said: self._granted.put(reasons)
        where = urlsplit(url)
        self._client.connect(where.hostname or "", where.port or 0)
        self._client.loop_start()
        self._client.subscribe(filter_, qos=1)
        assert not self._granted.get(timeout=TIMEOUT_S)[0].is_failure

    def _add(self, message: paho.MQTTMessage) -> None:
        event = json.loads(message.payload)
        if event["client_id"] != self._id:
            self._events.put((message.topic, event))

    def next(self) -> tuple[str, dict[str, Any]]:
        return self._events.get(timeout=TIMEOUT_S)

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


def event_of(client: lapwing.Client) -> dict[str, Any]:
    """The next event that a client gets."""
    message = client.receive(timeout_s=TIMEOUT_S)
    assert message is not None
    event: dict[str, Any] = json.loads(message.payload)
    return event


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Polls until something is true, with a deadline."""

    def poll(done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not done():
            assert time.monotonic() < deadline
            time.sleep(0.005)

    return poll


@BOTH
def test_the_life_of_a_client(shards: int) -> None:
    """In its order, on topics of its own, whatever shards the two are on."""
    with lapwing.Broker(shards=shards, events={"clients": True}) as broker:
        reader = Reader(broker.url)
        with lapwing.Client(broker.url, client_id="device/1") as device:
            device.subscribe("a/#", qos=1)
            device.subscribe("$share/g/b", qos=1)
            device.publish("c", b"secret", qos=1)
            device.flush()
            device.unsubscribe("a/#")
        seen = [reader.next() for _ in range(5)]
        kinds = ["connected", "subscribed", "subscribed", "unsubscribed", "disconnected"]
        assert [topic for topic, _ in seen] == [f"$lapwing/events/{kind}/device_1" for kind in kinds]
        assert [event["event"] for _, event in seen] == kinds
        now_us = time.time_ns() // 1000
        for _, event in seen:
            assert (event["client_id"], event["username"], event["protocol"]) == ("device/1", None, 5)
            assert event["address"].startswith("127.0.0.1:")
            assert now_us - 60_000_000 < event["at_us"] <= now_us
        assert seen[0][1]["session_present"] is False
        assert [(event["filter"], event["qos"]) for _, event in seen[1:3]] == [("a/#", 1), ("$share/g/b", 1)]
        assert seen[3][1]["filter"] == "a/#"
        gone = seen[4][1]
        assert (gone["reason_code"], gone["published"]) == (0, 1)
        assert broker.metrics()["lapwing_events_total"] >= 5
        reader.close()


def test_why_a_client_has_gone() -> None:
    """It is taken over; it breaks without a word."""
    with lapwing.Broker(shards=1, events={"clients": True}) as broker:
        reader = Reader(broker.url, "$lapwing/events/disconnected/#")
        where = urlsplit(broker.url)
        clients = [paho.Client(paho.CallbackAPIVersion.VERSION2, "d", protocol=paho.MQTTv5) for _ in range(2)]
        for client in clients:
            client.connect(where.hostname or "", where.port or 0)
        _, event = reader.next()
        assert (event["reason_code"], event["reason"]) == (0x8E, "Session taken over")
        socket = clients[1].socket()
        assert socket is not None
        socket.close()
        _, event = reader.next()
        assert (event["reason_code"], event["reason"]) == (None, None)
        reader.close()


def test_each_message_by_setting() -> None:
    with lapwing.Broker(shards=2, events={"published": True}) as broker:
        reader = Reader(broker.url)
        with lapwing.Client(broker.url, client_id="d") as device:
            device.publish("t", b"four", qos=1, retain=True)
            device.flush()
        topic, event = reader.next()
        assert topic == "$lapwing/events/published/d"
        said = {name: event[name] for name in ("topic", "qos", "retain", "bytes")}
        assert said == {"topic": "t", "qos": 1, "retain": True, "bytes": 4}
        assert "four" not in json.dumps(event)
        reader.close()


def test_they_are_off_and_nobody_gets_them_by_accident(eventually: Callable[[Callable[[], bool]], None]) -> None:
    with lapwing.Broker(shards=1) as broker:
        Reader(broker.url).close()
        with lapwing.Client(broker.url, client_id="d"):
            assert broker.metrics()["lapwing_events_total"] == 0
    with (
        lapwing.Broker(shards=1, events={"clients": True}) as broker,
        lapwing.Client(broker.url, client_id="all") as everything,
    ):
        everything.subscribe("#")
        everything.subscribe("+/events/#")
        eventually(lambda: broker.metrics()["lapwing_events_total"] == 3)
        everything.publish("t", b"only this")
        message = everything.receive(timeout_s=TIMEOUT_S)
        assert message is not None
        assert message.topic == "t"
        everything.publish("$lapwing/events/connected/eve", b"{}", qos=1)
        with pytest.raises(lapwing.LapwingError):
            everything.flush()


def test_they_need_a_rule(tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    with update_users(users) as known:
        for name in ("monitor", "eve"):
            known[name] = User(name, hash_password(b"secret"))
    rules = [
        {"identity": "*", "may": ["publish", "subscribe"], "topics": ["#"]},
        {"identity": "monitor", "may": ["subscribe"], "topics": ["$lapwing/events/#"]},
    ]
    with (
        lapwing.Broker(shards=1, users=users, rules=rules, events={"clients": True}) as broker,
        lapwing.Client(broker.url, username="monitor", password="secret") as monitor,
    ):
        assert monitor.subscribe("$lapwing/events/connected/+") == [0]
        with lapwing.Client(broker.url, client_id="e", username="eve", password="secret") as eve:
            event = event_of(monitor)
            assert (event["client_id"], event["username"]) == ("e", "eve")
            with pytest.raises(lapwing.LapwingError):
                eve.subscribe("$lapwing/events/#")


def test_they_wait_for_a_session_that_is_away(tmp_path: Path) -> None:
    """A group whose members are away has them when the broker was killed meanwhile."""
    config = tmp_path / "lapwing.toml"
    config.write_text('[events]\nclients = true\n[groups."bridge"]\nfilters = ["$lapwing/events/#"]\n')
    with (
        RunningBroker(tmp_path / "data", "--config", str(config)).wait_until_ready() as running,
        lapwing.Client(running.url, client_id="d") as device,
    ):
        # Behind the events: what is acknowledged is on disk, and they with it.
        device.publish("t", b"x", qos=1, retain=True)
        device.flush()
    with (
        RunningBroker(tmp_path / "data", "--config", str(config)).wait_until_ready() as running,
        lapwing.Client(running.url, client_id="member") as member,
    ):
        member.subscribe("$share/bridge/$lapwing/events/#", qos=1)
        event = event_of(member)
        assert (event["event"], event["client_id"]) == ("connected", "d")
