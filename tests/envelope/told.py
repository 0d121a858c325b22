"""A client of paho-mqtt that may ask to be told of publishers."""

from __future__ import annotations

import queue
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

TIMEOUT_S = 30
NAMES = ("lapwing-client", "lapwing-session", "lapwing-qos", "lapwing-message-id", "lapwing-ingress-us")


def user_properties(message: Any) -> list[tuple[str, str]]:
    """Those of a message, in their order."""
    return list(getattr(message.properties, "UserProperty", []))


def envelope(message: Any) -> dict[str, str]:
    """What a message says of its publisher; each name once."""
    said = [(name, value) for name, value in user_properties(message) if name in NAMES]
    assert len(said) == len(dict(said)), said
    return dict(said)


def others(message: Any) -> list[tuple[str, str]]:
    """The user properties that are the publisher's own."""
    return [(name, value) for name, value in user_properties(message) if name not in NAMES]


class Told:
    """One connection; it acknowledges when it is told to. `asks`: the value of `lapwing-envelope`, if any."""

    def __init__(
        self,
        url: str,
        client_id: str,
        *,
        asks: str | None = "1",
        expiry_s: int = 0,
        packet_bytes_max: int | None = None,
        username: str | None = None,
        will: tuple[str, bytes] | None = None,
    ) -> None:
        self._messages: queue.Queue[paho.MQTTMessage] = queue.Queue()
        self._connacks: queue.Queue[Any] = queue.Queue()
        self._granted: queue.Queue[Any] = queue.Queue()
        self.client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id, protocol=paho.MQTTv5, manual_ack=True)
        self.client.on_message = lambda _client, _data, message: self._messages.put(message)
        self.client.on_connect = lambda _client, _data, _flags, reason, said: self._connacks.put((reason, said))
        self.client.on_subscribe = lambda _client, _data, _mid, reasons, _said: self._granted.put(reasons)
        if username is not None:
            self.client.username_pw_set(username, "secret")
        if will is not None:
            self.client.will_set(*will, qos=1)
        says = Properties(PacketTypes.CONNECT)
        if asks is not None:
            says.UserProperty = [("lapwing-envelope", asks)]
        if packet_bytes_max is not None:
            says.MaximumPacketSize = packet_bytes_max
        says.SessionExpiryInterval = expiry_s
        where = urlsplit(url)
        assert where.hostname
        assert where.port
        self.client.connect(where.hostname, where.port, clean_start=expiry_s == 0, properties=says)
        self.client.loop_start()
        reason, said = self._connacks.get(timeout=TIMEOUT_S)
        assert not reason.is_failure, reason
        self.answer = dict(getattr(said, "UserProperty", [])).get("lapwing-envelope")

    def subscribe(self, *filters: str, qos: int = 1) -> Self:
        """Waits for the SUBACK."""
        self.client.subscribe([(filter_, qos) for filter_ in filters])
        assert not any(reason.is_failure for reason in self._granted.get(timeout=TIMEOUT_S))
        return self

    def take(self, *, finish: bool = True) -> paho.MQTTMessage:
        """The next message; acknowledged, unless it is not to be finished."""
        message = self._messages.get(timeout=TIMEOUT_S)
        if finish:
            self.client.ack(message.mid, message.qos)
        return message

    def publish(self, topic: str, payload: bytes = b"", *user: tuple[str, str], qos: int = 1, **how: bool) -> None:
        """Waits for the acknowledgement."""
        says = Properties(PacketTypes.PUBLISH)
        if user:
            says.UserProperty = list(user)
        sent = self.client.publish(topic, payload, qos, properties=says, **how)
        sent.wait_for_publish(TIMEOUT_S)
        assert sent.is_published()

    def breaks(self) -> None:
        """Ends the connection without a word."""
        self.client.loop_stop()
        socket = self.client.socket()
        assert socket is not None
        socket.close()

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
