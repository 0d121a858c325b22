"""Who is registered: retained messages, of which nobody says how many there are, heard anew with each connection."""

from __future__ import annotations

import logging
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

LOG = logging.getLogger("lapwing.controller")

AT_ONCE = 1_000
_TICK_S = 1.0
_AGAIN_S = 1.0
"""Between two attempts to subscribe anew."""
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

    What changes at QoS 0 while the connection is broken comes with none that follows: the subscription is not new, and
    a session keeps no such message. It may be a last will. So whenever the connection has been made again another one
    takes its place, with a session that begins anew (Clean Start; an expiry of 0 would not do where the broker takes
    the broken one for a living one yet), and hears everything once more. Who is not named then is registered no more.

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
        self._named: set[str] = set()
        self._is_outdated = False
        self._consumer: Consumer | None = None
        self.are_whole = threading.Event()
        """Every retained one has been heard, once since the start."""
        self.moved_at = 0.0
        """When the last one came, by the monotonic clock."""

    def connect(self) -> None:
        """Connects and subscribes.

        Raises:
            LapwingError: The broker cannot be reached, or refuses.
        """
        # Another mark each time: what takes away the last one may still be on its way.
        self._mark, self._copies, self._is_outdated = f"{MARK}{secrets.token_hex(8)}", 0, False
        self._named.clear()
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
                if self._must_begin_anew():
                    break  # before it: some of it may be the new connection's
                self._take(batch, hearer)
                if closing.is_set():
                    return
            if self._must_begin_anew():
                self._begin_anew(closing)

    def close(self) -> None:
        """Says goodbye; by the thread that hears, so that what it has in hand counts as done."""
        self._connected().close()

    def abort(self) -> None:
        """Breaks the connection, if there is one."""
        if self._consumer is not None:
            self._consumer.abort()

    def _must_begin_anew(self) -> bool:
        return self._is_outdated or self._connected().counters.connections > 1

    def _begin_anew(self, closing: threading.Event) -> None:
        self.abort()
        while not closing.is_set():
            try:
                self.connect()
            except _RefusedMarkError:
                raise
            except LapwingError as error:
                # What does not pass by itself ends the connection for answers, too.
                LOG.warning("registrations are not heard at present: %s", error)
                closing.wait(_AGAIN_S)
            else:
                return

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
                raise _RefusedMarkError(
                    f"what tells that all on {REGISTRATIONS} has been heard was refused: {error.rejections[0].words}",
                    where=client.url,
                    remedy="the controller must be permitted to publish and to subscribe there",
                ) from error

    def _take(self, batch: Sequence[Delivery], hearer: Hearer) -> None:
        for message in batch:
            device = device_of(message)
            if device.startswith(MARK):
                self._note_mark(device, message)
                continue
            hearer.registered(device, message.payload, is_retained=message.retain)
            self._named.add(device)
            self.moved_at = time.monotonic()
        if self._copies == _COPIES:
            self._copies += 1
            hearer.all_registered(self._named)
            self.are_whole.set()
            self._clear(registration_topic(self._mark))

    def _note_mark(self, device: str, message: Delivery) -> None:
        if device == self._mark and self._copies < _COPIES:
            self._copies += message.retain
            # A busy broker may give one that it has acknowledged to a later subscription: live, once for both filters.
            self._is_outdated |= not message.retain


class _RefusedMarkError(LapwingError):
    """The mark may not be published: without it nobody knows when all has been heard."""
