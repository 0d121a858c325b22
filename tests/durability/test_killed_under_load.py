"""The broker is killed again and again under load: nothing acknowledged is missing, QoS 2 comes once."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import paho.mqtt.client as paho
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from restarting import RestartingBroker

DEADLINE_S = 60.0
KILLS = 3
FLAGS = ("--set", "broker.shards=3", "--set", "limits.log_snapshot_bytes=2KiB")
PACKET_IDENTIFIER_NOT_FOUND = 0x92


class Peer:
    """A client of paho's with a session that stays; it connects again by itself for as long as it takes."""

    def __init__(self, broker: RestartingBroker, name: str) -> None:
        self.received: list[int] = []
        self._answered: set[int] = set()
        self._serials: dict[int, int] = {}
        self._subscribed = threading.Event()
        self.client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=name, protocol=paho.MQTTv5)
        self.client.max_inflight_messages_set(50)
        self.client.max_queued_messages_set(0)
        self.client.reconnect_delay_set(1, 1)
        # A second attempt to connect would make paho forget that a PUBREC has come: it would publish anew.
        self.client.on_pre_connect = lambda *_: broker.is_up.wait(DEADLINE_S)
        self.client.on_publish = self._on_publish
        self.client.on_message = self._on_message
        self.client.on_subscribe = lambda *_: self._subscribed.set()
        properties = Properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = 3_600
        parts = urlsplit(broker.url)
        self.client.connect(str(parts.hostname), int(parts.port or 0), clean_start=False, properties=properties)
        self.client.loop_start()

    def _on_publish(self, _client: Any, _userdata: Any, message_id: int, reason: Any, _properties: Any) -> None:
        # The release was on disk and its PUBCOMP was not sent: sent again, it finds nothing (5.0, 3.7.2.1: no error).
        assert not reason.is_failure or reason.value == PACKET_IDENTIFIER_NOT_FOUND, reason
        self._answered.add(message_id)

    def _on_message(self, _client: Any, _userdata: Any, message: paho.MQTTMessage) -> None:
        self.received.append(int(message.payload))

    def subscribe(self, topic: str, qos: int) -> Self:
        """Returns when the broker has promised it."""
        self.client.subscribe(topic, qos)
        assert self._subscribed.wait(DEADLINE_S)
        return self

    def publish(self, topic: str, serial: int, qos: int) -> None:
        """Gives a message to paho, which sends it until it is acknowledged; by packet id, so at most 65,535."""
        self._serials[self.client.publish(topic, b"%d" % serial, qos).mid] = serial

    @property
    def acknowledged(self) -> set[int]:
        """Serials that the broker has acknowledged."""
        return {self._serials[message_id] for message_id in self._answered.copy()}

    def end(self) -> None:
        """Goes without a word."""
        self.client.loop_stop()


def wait_for(broker: RestartingBroker, what: str, is_so: Any) -> None:
    """Until it is so."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, f"{what}: not in time ({broker.url})"
        time.sleep(0.05)


def publish_while_killed(broker: RestartingBroker, writer: Peer, qos: int, *, between: tuple[int, int]) -> set[int]:
    """Publishes so many messages before each kill, which comes when some are acknowledged; the serials of all."""
    random_ = random.Random(qos)
    published = 0
    for _ in range(KILLS):
        count = random_.randint(*between)
        for serial in range(published, published + count):
            writer.publish("t/x", serial, qos)
        published += count
        target = random_.randint(published - count, published - 1)
        wait_for(broker, "progress", lambda target=target: len(writer.acknowledged) >= target)
        broker.kill()
        broker.start()
        # What paho is given while it connects overtakes what it has to send again.
        wait_for(broker, "the writer", writer.client.is_connected)
    serials = set(range(published))
    wait_for(broker, "acknowledgements", lambda: writer.acknowledged >= serials)
    return serials


@pytest.mark.parametrize("qos", [1, 2])
def test_every_message_arrives_whenever_the_broker_is_killed(tmp_path: Path, qos: int) -> None:
    """QoS 1 at least once, QoS 2 once and in order, to one who is there and to one who comes later."""
    broker = RestartingBroker(tmp_path, *FLAGS)
    broker.start()
    sleeper = Peer(broker, "sleeper").subscribe("t/#", qos)
    sleeper.client.disconnect()
    sleeper.end()
    reader, writer = Peer(broker, "reader").subscribe("t/#", qos), Peer(broker, "writer")
    serials = publish_while_killed(broker, writer, qos, between=(500, 1_500))
    wait_for(broker, "the reader", lambda: set(reader.received) >= serials)
    late = Peer(broker, "sleeper")
    wait_for(broker, "the sleeper", lambda: set(late.received) >= serials)
    for peer in (writer, reader, late):
        peer.end()
    broker.kill()
    if qos == 2:
        assert reader.received == sorted(serials)
        assert late.received == sorted(serials)
