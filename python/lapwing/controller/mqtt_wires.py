"""Commands, answers and registrations over MQTT.

Three connections. Registrations are retained and come whole with every subscription: a plain subscriber that keeps
nothing. Answers must not be lost while the controller is away: a session that the broker keeps, its messages
acknowledged once they are in the table. Commands go out through a publisher that resends what is not answered.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Unpack

from lapwing.client import Consumer, Delivery, Publisher
from lapwing.client.options import ConnectOptions
from lapwing.client_url import without_user
from lapwing.contracts.commands import ANSWERS, REGISTRATIONS, answer_topic, command_topic
from lapwing.controller.marks import MARK, device_of
from lapwing.controller.registrations import Registrations
from lapwing.errors import LapwingError, TimedOutError
from lapwing.pipeline.commands.post import Hearer

LOG = logging.getLogger("lapwing.controller")

SESSION_S = 7 * 86_400
"""Answers wait so long for a controller that is away."""

ANSWERS_AT_ONCE = 2_000
_TICK_S = 1.0
_LOOK_S = 0.1
_LINGER_MS = 100.0
_ID_PROPERTY = "lapwing-command-id"


class MqttWires:
    """See `lapwing.pipeline.commands.post.Wires`.

    Args:
        url: The broker: ``tcp://HOST:PORT``, ``tls://``, ``ws://HOST:PORT/PATH`` or ``wss://``.
        name: Of this controller at the broker: the session that keeps its answers. One name, one controller at a time.
        connect: User, password, authorities; see `ConnectOptions`.
    """

    def __init__(self, url: str, name: str, **connect: Unpack[ConnectOptions]) -> None:
        self._url, self._name = without_user(url), name
        options: Any = dict(connect)
        self._publisher = Publisher(url, client_id=f"{name}-commands", **options)
        self._registrations = Registrations(url, f"{name}-registrations", self._clear, options)
        self._answers = Consumer(
            url,
            ANSWERS,
            qos=1,
            report=False,
            batch=ANSWERS_AT_ONCE,
            client_id=f"{name}-answers",
            session_expiry_s=SESSION_S,
            **options,
        )
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()
        self._mark = f"{MARK}{secrets.token_hex(8)}"
        self._answers_are_whole = threading.Event()
        self._moved_at = 0.0
        self._failure: LapwingError | None = None

    def open(self, hearer: Hearer, timeout_s: float = 30.0) -> None:
        """Connects; on return every retained registration, and every answer that waited, has been heard.

        Marks tell when, on topics of a device that no device is: that of answers is published behind them and comes
        behind them, for a session is a queue; for the other see `Registrations`. There may be days of answers: they
        take what they take, as long as they come.

        Raises:
            TimedOutError: Nothing has come for ``timeout_s``, and no mark.
            LapwingError: The broker cannot be reached, or refuses; or what came could not be taken in.
        """
        self._publisher.connect()
        self._registrations.connect()
        self._answers.connect()
        for heard, body in ((self._registrations, self._hear_registrations), (self._answers, self._hear_answers)):
            thread = threading.Thread(target=self._guarded, args=(heard, body, hearer), daemon=True)
            thread.start()
            self._threads.append(thread)
        self._publisher.publish(answer_topic(self._mark), b"", qos=1)
        self._wait_until_whole(timeout_s)

    def send(self, device: str, command_id: str, payload: bytes, expiry_s: int) -> int:
        """Hands a command over; see `Post.send`."""
        return self._publisher.publish(
            command_topic(device),
            payload,
            qos=1,
            content_type="application/json",
            correlation_data=command_id.encode(),
            user_properties=[(_ID_PROPERTY, command_id)],
            message_expiry_s=expiry_s,
            timeout_s=0.0,
        )

    def flush(self, timeout_s: float) -> bool:
        """See `Post.flush`."""
        try:
            self._publisher.flush(timeout_s)
        except TimedOutError:
            return False
        return True

    def close(self) -> None:
        """Says goodbye; answers that come from now on wait for the next controller."""
        if self._closing.is_set():
            return
        self._closing.set()
        for thread in self._threads:
            thread.join()  # each says goodbye for its consumer
        if not self._threads:
            self._registrations.abort()
            self._answers.abort()
        try:
            self._publisher.close(1.0)
        except LapwingError:
            # What the broker does not have is in the outbox: the next run publishes it.
            self._publisher.abort()

    def _wait_until_whole(self, timeout_s: float) -> None:
        self._moved_at = time.monotonic()
        for topics, event in ((REGISTRATIONS, self._registrations.are_whole), (ANSWERS, self._answers_are_whole)):
            while not event.wait(_LOOK_S):
                if self._failure:
                    raise self._failure
                moved_at = max(self._moved_at, self._registrations.moved_at)
                if time.monotonic() - moved_at > timeout_s:
                    raise TimedOutError(
                        f"nothing has come on {topics} for {timeout_s:g} s, nor what tells that nothing waits there",
                        where=self._url,
                        remedy="look at the broker; the controller must be permitted to publish and to subscribe there",
                    )

    def _clear(self, topic: str) -> None:
        try:
            self._publisher.publish(topic, b"", qos=0, retain=True, timeout_s=0.0)
        except LapwingError as error:
            LOG.debug("%s stays retained until its time is over: %s", topic, error)

    def _guarded(self, heard: Consumer | Registrations, body: Callable[[Hearer], None], hearer: Hearer) -> None:
        try:
            body(hearer)
            heard.close()  # by the thread of the loop: the batch in hand counts as done
        except Exception as error:
            heard.abort()  # what was not finished comes again
            told = error if isinstance(error, LapwingError) else LapwingError(f"{type(error).__name__}: {error}")
            if self._closing.is_set():
                LOG.error("the controller's connection ended badly: %s", told, exc_info=error)
            else:
                self._failure = told
                hearer.broken(told)

    def _hear_registrations(self, hearer: Hearer) -> None:
        self._registrations.hear(hearer, self._closing)

    def _hear_answers(self, hearer: Hearer) -> None:
        while not self._closing.is_set():
            # A batch is acknowledged to the broker when the next one is asked for: then it is in the table.
            for batch in self._answers.batches(ANSWERS_AT_ONCE, wait_ms=_LINGER_MS, timeout_s=_TICK_S):
                self._moved_at = time.monotonic()
                hearer.answered(_unmarked(batch))
                hearer.tick()
                if any(device_of(message) == self._mark for message in batch):
                    self._answers_are_whole.set()
                if self._closing.is_set():
                    return
            hearer.tick()


def _unmarked(batch: Sequence[Delivery]) -> list[tuple[str, bytes]]:
    """Devices and payloads, without marks: other controllers' too, and those of runs that were killed."""
    heard = ((device_of(message), message) for message in batch)
    return [(device, message.payload) for device, message in heard if not device.startswith(MARK)]
