"""paho-mqtt, the Python client of the Eclipse Paho project."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import paho.mqtt.client as paho

from clients.peer import TIMEOUT_S, Received, Sent


class Paho:
    """See `Peer`."""

    name = "paho"

    def missing(self) -> str | None:
        return None

    @contextmanager
    def subscribe(self, address: tuple[str, int], version: int, topic_filter: str) -> Iterator[_Inbox]:
        inbox = _Inbox()
        with _connected(address, version) as client:
            client.on_message = lambda _c, _u, m: inbox.messages.put(Received(m.topic, m.payload, m.qos))
            granted = threading.Event()
            client.on_subscribe = lambda *_: granted.set()
            client.subscribe(topic_filter, 2)
            assert granted.wait(TIMEOUT_S)
            yield inbox

    def publish(self, address: tuple[str, int], version: int, messages: Sequence[Sent]) -> None:
        with _connected(address, version) as client:
            for sent in [client.publish(m.topic, m.payload, m.qos) for m in messages]:
                sent.wait_for_publish(TIMEOUT_S)
                assert sent.is_published()


class _Inbox:
    def __init__(self) -> None:
        self.messages: queue.SimpleQueue[Received] = queue.SimpleQueue()

    def receive(self, count: int) -> list[Received]:
        return [self.messages.get(timeout=TIMEOUT_S) for _ in range(count)]


@contextmanager
def _connected(address: tuple[str, int], version: int) -> Iterator[paho.Client]:
    client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=version)
    connected = threading.Event()
    reasons: list[Any] = []

    def on_connect(_client: Any, _userdata: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        reasons.append(reason)
        connected.set()

    client.on_connect = on_connect
    client.connect(*address)
    client.loop_start()
    try:
        assert connected.wait(TIMEOUT_S)
        assert not reasons[0].is_failure, reasons
        yield client
    finally:
        client.disconnect()
        client.loop_stop()
