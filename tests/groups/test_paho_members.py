"""Members that are somebody else's unchanged clients: paho-mqtt of 3.1.1 and 5.0 beside our raw ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from urllib.parse import urlsplit

import paho.mqtt.client as paho
import pytest
from members import UNHURRIED, group, groups, member, publish
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from wire import until

import lapwing

HANDLER_S = 0.02


@contextmanager
def consumer(
    url: str, client_id: str, took: list[float], *, version: int = paho.MQTTv5, declares: bool = True, qos: int = 1
) -> Iterator[paho.Client]:
    """A plain paho consumer with a handler of 20 ms: paho acknowledges when the handler has returned."""
    client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id, protocol=version)

    def handle(*_: object) -> None:
        began = time.monotonic()
        time.sleep(HANDLER_S)
        took.append(time.monotonic() - began)

    subscribed = threading.Event()
    client.on_message = handle
    client.on_subscribe = lambda *_: subscribed.set()
    properties = None
    if version == paho.MQTTv5 and declares:
        properties = Properties(PacketTypes.CONNECT)
        properties.UserProperty = [("lapwing-ack", "processed")]
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    client.connect(parts.hostname, parts.port, properties=properties)
    client.loop_start()
    client.subscribe("$share/g/t/#", qos)
    assert subscribed.wait(30)
    try:
        yield client
    finally:
        client.disconnect()
        client.loop_stop()


def has_acknowledged(broker: lapwing.Broker, count: int) -> bool:
    return bool(group(broker)["counters"]["acknowledged"] == count)


@pytest.mark.parametrize("count_at_once", [1, 150])
def test_a_handler_of_20_ms_is_estimated_at_20_ms(count_at_once):
    """Over loopback, one message at a time and many in a row: is the estimate the handler's time, within 10 %?

    As long as the handler really took: a busy machine wakes a sleeper late. What it takes from the broker's clock to
    the handler's and back is no work, and more than 2 ms there while others have the cores: then once more.
    """
    took: list[float] = []
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, consumer(broker.url, "c", took):

        def is_estimated() -> bool:
            for _ in range(150 // count_at_once):
                done = len(took) + count_at_once
                publish(broker, *[b"m"] * count_at_once)
                until(partial(has_acknowledged, broker, done))
            return bool(member(broker, "c")["service_ms"] == pytest.approx(1000 * sum(took[-60:]) / 60, rel=0.1))

        until(is_estimated)
        seen = member(broker, "c")
    assert not seen["is_blind"]
    if count_at_once == 1:
        # The way is no work. In a row paho-mqtt reads the next message before it writes the last acknowledgement: they
        # come in pairs.
        assert seen["rtt_ms"] < 1000 * HANDLER_S


@pytest.mark.parametrize("version", [paho.MQTTv311, paho.MQTTv5])
@pytest.mark.parametrize("qos", [1, 2])
def test_an_unchanged_client_takes_part(version, qos):
    """Does a client that has never heard of us get its share beside one that declares itself?"""
    plain: list[float] = []
    declared: list[float] = []
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker:
        with (
            consumer(broker.url, "plain", plain, version=version, declares=False, qos=qos),
            consumer(broker.url, "declared", declared, qos=qos),
        ):
            for _ in range(8):
                publish(broker, *[b"m"] * 10)
                time.sleep(0.05)
            until(lambda: bool(len(plain) + len(declared) == 80), 60)
        # A handler's acknowledgement is on its way for a moment longer.
        until(partial(group_is_empty, broker))
    assert min(len(plain), len(declared)) >= 8, (len(plain), len(declared))


def group_is_empty(broker: lapwing.Broker) -> bool:
    """Whether nothing is left: a group without members that nobody declared is gone."""
    return all(found["unacknowledged"] == 0 and found["waiting_bulk"] == 0 for found in groups(broker))
