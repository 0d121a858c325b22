"""paho clients that publish what is acknowledged and note what they get."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from paho.mqtt.client import Client as Paho
from paho.mqtt.client import MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

DEADLINE_S = 30.0
SILENCE_S = 0.3
"""How long nothing may come. It shows no more than that nothing was about to."""


def eventually(what: str, is_so: Callable[[], object]) -> None:
    """Looks until it is so, or fails at the deadline."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, f"not in time: {what}"
        time.sleep(0.005)


class Receiver:
    """One paho client of MQTT 5.0; ``got`` has its messages in order."""

    def __init__(self, client_id: str) -> None:
        self.got: list[MQTTMessage] = []
        self.granted: list[int] = []
        self.paho = Paho(CallbackAPIVersion.VERSION2, client_id, protocol=MQTTProtocolVersion.MQTTv5)
        self.paho.on_message = self._on_message
        self.paho.on_subscribe = self._on_subscribe

    def _on_message(self, _client: Paho, _data: object, message: MQTTMessage) -> None:
        self.got.append(message)

    def _on_subscribe(self, _client: Paho, _data: object, packet_id: int, *_rest: Any) -> None:
        self.granted.append(packet_id)

    @property
    def payloads(self) -> list[str]:
        """What came, as text."""
        return [message.payload.decode() for message in self.got]

    def subscribe(self, topic_filter: str, qos: int = 1) -> None:
        """Returns behind the SUBACK."""
        _, packet_id = self.paho.subscribe(topic_filter, qos=qos)
        eventually("SUBACK", lambda: packet_id in self.granted)

    def expect(self, payloads: Iterable[str]) -> None:
        """These have come, in this order, and nothing else does."""
        wanted = list(payloads)
        eventually(f"{len(wanted)} messages", lambda: len(self.got) >= len(wanted))
        time.sleep(SILENCE_S)
        assert self.payloads == wanted


@contextmanager
def connected(url: str, client_id: str, *, lasting: bool = False) -> Iterator[Receiver]:
    """A client that is connected; its session outlives the connection if it is ``lasting``."""
    receiver = Receiver(client_id)
    address = urlsplit(url)
    properties = Properties(PacketTypes.CONNECT)
    if lasting:
        properties.SessionExpiryInterval = 3_600
    receiver.paho.connect(str(address.hostname), address.port or 1883, clean_start=not lasting, properties=properties)
    receiver.paho.loop_start()
    eventually("CONNACK", receiver.paho.is_connected)
    try:
        yield receiver
    finally:
        receiver.paho.disconnect()
        receiver.paho.loop_stop()


def publish(url: str, *messages: tuple[str, str], qos: int = 1, retain: bool = False) -> None:
    """Publishes (topic, payload) one after the other; returns when all are acknowledged."""
    with connected(url, "publisher") as publisher:
        infos = [publisher.paho.publish(topic, payload, qos=qos, retain=retain) for topic, payload in messages]
        for info in infos:
            info.wait_for_publish(DEADLINE_S)
            assert info.is_published()
