"""Who is registered: retained messages, of which nobody says how many there are."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from lapwing.client import Client, Consumer, Delivery
from lapwing.contracts.commands import REGISTRATIONS, Registration, encode, registration_topic
from lapwing.controller.marks import MARK, device_of
from lapwing.errors import LapwingError, RejectedError
from lapwing.pipeline.commands.post import Hearer

AT_ONCE = 1_000
_TICK_S = 1.0
_MARK_S = 3_600
"""So long a mark is retained if nobody takes it away: its controller was killed."""
_COPIES = 2


class Registrations:
    """Hears registrations, and knows when all that are retained have been heard.

    A message that is published behind the subscription tells nothing: it is live, and overtakes retained ones, which a
    broker gives page by page as they are taken. So the mark is retained, on a device's topic that no device has, before
    there is a subscription; and the SUBSCRIBE has two filters, that of all registrations and the mark's own topic. The
    mark comes with each. A broker treats filters of one SUBSCRIBE as if they came one after the other (MQTT-3.8.4-5);
    Lapwing serves those of a session one after the other, each to its end, by name, and `+` is before any letter. So
    the second copy is behind everything that the first filter brings. To wait until none has come for a while, instead,
    would be a guess on a busy broker, and a delay on every other.

    Args:
        url: The broker.
        client_id: Of the connection.
        clear: Called with the mark's topic when it has done its work: nothing need be retained there any more.
        connect: See `ConnectOptions`.
    """

    def __init__(self, url: str, client_id: str, clear: Callable[[str], None], connect: dict[str, Any]) -> None:
        self._url, self._client_id, self._clear, self._connect = url, client_id, clear, connect
        self._mark = ""
        self._copies = 0
        self._consumer: Consumer | None = None
        self.are_whole = threading.Event()
        """Every retained one has been heard."""
        self.moved_at = 0.0
        """When the last one came, by the monotonic clock."""

    def connect(self) -> None:
        """Connects and subscribes.

        Raises:
            LapwingError: The broker cannot be reached, or refuses.
        """
        self._mark, self._copies = f"{MARK}{secrets.token_hex(8)}", 0
        self._retain_mark()
        self._consumer = Consumer(
            self._url,
            [REGISTRATIONS, registration_topic(self._mark)],
            qos=1,
            report=False,
            batch=AT_ONCE,
            client_id=self._client_id,
            **self._connect,
        ).connect()

    def hear(self, hearer: Hearer, closing: threading.Event) -> None:
        """Tells of each, until ``closing``.

        Raises:
            LapwingError: The broker does not take this client any more.
        """
        while not closing.is_set():
            for batch in self._connected().batches(AT_ONCE, wait_ms=10.0, timeout_s=_TICK_S):
                self._take(batch, hearer)
                if closing.is_set():
                    return

    def close(self) -> None:
        """Says goodbye; by the thread that hears, so that what it has in hand counts as done."""
        self._connected().close()

    def abort(self) -> None:
        """Breaks the connection, if there is one."""
        if self._consumer is not None:
            self._consumer.abort()

    def _connected(self) -> Consumer:
        assert self._consumer is not None  # connect() comes first
        return self._consumer

    def _retain_mark(self) -> None:
        # To those that do not know marks it is a device that is not there; an empty message would retain nothing.
        payload = encode(Registration(self._mark, False))
        options = {name: value for name, value in self._connect.items() if name != "back_off_s"}
        with Client(self._url, client_id=self._client_id, **options) as client:
            client.publish(registration_topic(self._mark), payload, qos=1, retain=True, message_expiry_s=_MARK_S)
            try:
                client.flush()
            except RejectedError as error:
                raise LapwingError(
                    f"what tells that all on {REGISTRATIONS} has been heard was refused: {error.rejections[0].words}",
                    where=client.url,
                    remedy="the controller must be permitted to publish and to subscribe there",
                ) from error

    def _take(self, batch: Sequence[Delivery], hearer: Hearer) -> None:
        for message in batch:
            device = device_of(message)
            if not device.startswith(MARK):
                hearer.registered(device, message.payload)
                self.moved_at = time.monotonic()
            elif device == self._mark and message.retain:
                self._copies += 1
        if self._copies >= _COPIES and not self.are_whole.is_set():
            self.are_whole.set()
            self._clear(registration_topic(self._mark))
