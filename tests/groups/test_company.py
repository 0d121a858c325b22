"""One group of everybody: unchanged clients of 3.1.1 and 5.0 beside raw ones that declare themselves."""

from __future__ import annotations

import threading
from urllib.parse import urlsplit

import paho.mqtt.client as paho
import pytest
from crew import SHARES, Hand, publish, until_counted
from members import member, said

import lapwing

COUNT = 200


class Stranger:
    """A paho client as anybody would write it: it appends what comes, and acknowledges by returning."""

    def __init__(self, url: str, client_id: str, version: int, qos: int) -> None:
        self.got: list[bytes] = []
        self.client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id, protocol=version)
        self.client.on_message = self.on_message
        subscribed = threading.Event()
        self.client.on_subscribe = lambda *_: subscribed.set()
        parts = urlsplit(url)
        self.client.connect(str(parts.hostname), parts.port or 0)
        self.client.loop_start()
        self.client.subscribe("$share/g/t/#", qos)
        assert subscribed.wait(30)

    def on_message(self, client: object, data: object, message: paho.MQTTMessage) -> None:
        threading.Event().wait(0.002)
        self.got.append(message.payload)

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


@pytest.mark.parametrize("shards", SHARES)
@pytest.mark.parametrize("qos", [1, 2])
def test_everybody_takes_part(shards, qos):
    """paho of both versions and two declared members: does each message reach one of them, and each of them some?"""
    with (
        # Nobody is sent away for being slow: this process may be.
        lapwing.Broker(shards=shards, groups={"g": {"filters": ["t/#"], "parameters": {"stall_ms": 0}}}) as broker,
        Hand.joins(broker.url, "quick", properties=said(ack="processed")) as quick,
        Hand.joins(broker.url, "wide", properties=said(ack="processed", workers=4)) as wide,
    ):
        strangers = [
            Stranger(broker.url, "old", paho.MQTTv311, qos),
            Stranger(broker.url, "new", paho.MQTTv5, qos),
        ]
        for declared in (quick, wide):
            declared.work(0.002)
        publish(broker, *(b"%d" % n for n in range(COUNT)), qos=qos)
        until_counted(broker, published=COUNT, acknowledged=COUNT, moved=0, kicks=0, dropped={})
        taken = {name: int(member(broker, name)["acknowledged"]) for name in ("quick", "wide", "old", "new")}
        assert sum(taken.values()) == COUNT
        assert min(taken.values()) > 0, taken
        for stranger, name in zip(strangers, ("old", "new"), strict=True):
            assert len(stranger.got) == len(set(stranger.got)) == taken[name]
            stranger.close()
