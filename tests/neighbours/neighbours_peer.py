"""A client of either broker that stays itself over restarts: what it publishes, what it got and how often."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from typing import Any, Self

import paho.mqtt.client as paho

Message = tuple[str, bytes]
TIMEOUT_S = 30
OUTSTANDING_MAX = 8
READY = "ready"
"""A topic that only says whether a bridge is there yet."""


class Peer:
    """Paho with a kept session, which comes back by itself within a second."""

    def __init__(self, port: int, name: str, *filters: tuple[str, int]) -> None:
        self.got: Counter[Message] = Counter()
        self.retained: dict[str, bytes] = {}
        self.is_subscribed = not filters
        self._filters = list(filters)
        self._asked = self._done = 0
        self._client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=name, clean_session=False)
        self._client.reconnect_delay_set(0.05, 0.2)
        self._client.on_connect = self._connected
        self._client.on_subscribe = self._subscribed
        self._client.on_message = self._message
        self._client.on_publish = self._acknowledged
        self._client.connect("127.0.0.1", port)

    def __enter__(self) -> Self:
        self._client.loop_start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._client.disconnect()
        self._client.loop_stop()

    def publish(self, topic: str, payload: bytes, qos: int, *, retain: bool = False) -> None:
        """Waits while too many are not acknowledged; see `all_acknowledged`.

        Mosquitto answers a client of 3.1.1 that has 20 of QoS 2 under way as if it had taken the next one, and has not.
        """
        deadline = time.monotonic() + TIMEOUT_S
        while self._asked - self._done >= OUTSTANDING_MAX:
            assert time.monotonic() < deadline, "no acknowledgement"
            time.sleep(0.001)
        self._asked += 1
        self._client.publish(topic, payload, qos, retain)

    @property
    def carried(self) -> dict[Message, int]:
        """What it got, and how often, but for `READY`."""
        return {message: times for message, times in list(self.got.items()) if message[0] != READY}

    @property
    def all_acknowledged(self) -> bool:
        """Whether the broker has taken over everything published."""
        return self._asked == self._done

    def _connected(self, client: paho.Client, *_: Any) -> None:
        if self._filters:
            client.subscribe(self._filters)

    def _subscribed(self, *_: Any) -> None:
        self.is_subscribed = True

    def _acknowledged(self, *_: Any) -> None:
        self._done += 1

    def _message(self, _client: paho.Client, _data: Any, message: paho.MQTTMessage) -> None:
        self.got[message.topic, message.payload] += 1
        if message.retain:
            self.retained[message.topic] = message.payload
