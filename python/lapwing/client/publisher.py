"""A publisher that gathers messages, keeps what is unanswered over reconnections, and holds back when it must."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Literal, Self, Unpack

from lapwing import _core
from lapwing.client.counters import Counters
from lapwing.client.failures import core_failures
from lapwing.client.options import POLL_S, ConnectOptions
from lapwing.client.outgoing import GOODBYE_S, Outgoing, encoded
from lapwing.errors import LapwingError


class Publisher:
    """Publishes in batches: ``publish`` hands a message over, a thread in Rust sends many with one write.

    Args:
        url: The broker: ``tcp://HOST:PORT``, ``tls://``, ``ws://HOST:PORT/PATH``, ``wss://`` or ``sn://``.
        window: Messages of QoS 1 and 2 unanswered at a time, by default 1024; fewer if the broker's Receive Maximum is
            less. MQTT 3.1.1 has none: there the default is 20.
        buffer_messages: Messages handed over and not yet answered (QoS 0: not yet sent), at most.
        buffer_bytes: The same in bytes of topics, payloads and properties.
        when_full: ``"wait"``: ``publish`` waits for room, up to ``timeout_s``. ``"raise"``: it raises at once.
        deadline_property: The user property of ``deadline_ms``, as the broker's ``[dispatch]`` names it.
        priority_property: That of ``priority``.
        connect: How to connect: see `ConnectOptions`.

    Raises:
        ConnectError: nobody answers there, or the broker refused the connection.
        TimedOutError: the broker did not answer in time, or there was no room in time.
        BufferFullError: the buffer is full, with ``when_full="raise"``.
        ConfigError: an argument cannot be (a topic with a wildcard).
        RejectedError: the broker refused messages (``flush``, ``close``); says which.
        LapwingError: it ended the connection for good.

    A connection that breaks is made again. What was published at QoS 1 and 2 and is not answered goes again, in its
    order, with DUP if the broker still has the session. ``connect`` begins a new session: what an earlier process of
    the same ``client_id`` had not had answered is for its caller to publish again. Several threads may use one
    publisher.
    """

    def __init__(
        self,
        url: str,
        *,
        window: int | None = None,
        buffer_messages: int = 10_000,
        buffer_bytes: int = 64 << 20,
        when_full: Literal["wait", "raise"] = "wait",
        deadline_property: str = "lapwing-deadline-ms",
        priority_property: str = "lapwing-priority",
        **connect: Unpack[ConnectOptions],
    ) -> None:
        self._outgoing = Outgoing.of(
            url,
            connect,
            window=window,
            buffer_messages=buffer_messages,
            buffer_bytes=buffer_bytes,
            when_full=when_full,
            deadline_property=deadline_property,
            priority_property=priority_property,
        )
        self.client_id = self._outgoing.plan.client_id
        self._link: _core.Link | None = None
        self._is_open = False
        self._opening = threading.Lock()

    def connect(self) -> Self:
        """Connects; a publisher that has connected stays as it is."""
        # Two links would have one client id, and each would end the other's connection.
        with self._opening:
            if not self._is_open:
                self._link = self._outgoing.plan.start_and_wait()
                self._is_open = True
        return self

    @property
    def counters(self) -> Counters:
        """What was counted, and how things stand."""
        return Counters.of(self._connected())

    def publish(
        self,
        topic: str,
        payload: bytes | str,
        *,
        qos: int = 1,
        retain: bool = False,
        deadline_ms: int | None = None,
        priority: Literal["critical", "bulk"] | None = None,
        user_properties: Sequence[tuple[str, str]] = (),
        content_type: str | None = None,
        response_topic: str | None = None,
        correlation_data: bytes | None = None,
        message_expiry_s: int | None = None,
        timeout_s: float | None = None,
    ) -> int:
        """Hands a message over; it leaves with the next write. ``flush`` tells what became of it.

        Text becomes UTF-8. Properties are MQTT 5.0's: an error with version 4, and with U+0000 in one.

        Args:
            topic: Where to; no wildcards.
            payload: What.
            qos: 0 to 2.
            retain: The broker keeps it for later subscribers.
            deadline_ms: Its work should be done so long after the broker got it: 1 to 86400000.
            priority: In a group ``"critical"`` overtakes ``"bulk"``.
            user_properties: Pairs in order; names may repeat.
            content_type: What the payload is.
            response_topic: Where to answer.
            correlation_data: What to answer with.
            message_expiry_s: After so many seconds the broker gives it to nobody. They run while it waits here, too:
                what has none left when it could be sent is not, and ``flush`` names it in a `RejectedError`.
            timeout_s: How long to wait for room; by default the publisher's.

        Returns:
            Its number, by which a `RejectedError` names it: 1 for the first since ``connect``.
        """
        outgoing = self._outgoing
        left_s = 0.0 if not outgoing.waits else outgoing.plan.timeout_s if timeout_s is None else timeout_s
        patience_s, data = left_s, encoded(payload)
        properties = outgoing.properties(user_properties, deadline_ms, priority)
        with core_failures(f"publish to {topic!r}"):
            while not (
                number := self._connected().publish(
                    topic,
                    data,
                    qos,
                    retain,
                    user_properties=properties,
                    content_type=content_type,
                    response_topic=response_topic,
                    correlation_data=correlation_data,
                    message_expiry_s=message_expiry_s,
                    timeout_s=min(left_s, POLL_S),
                )
            ):
                left_s -= POLL_S
                if left_s <= 0:
                    raise outgoing.no_room(topic, patience_s)
        return number

    def flush(self, timeout_s: float | None = None) -> None:
        """Waits until everything is sent and, at QoS 1 and 2, answered for good.

        Raises:
            TimedOutError: it is not, after ``timeout_s``; nothing is lost by that: it goes on.
            RejectedError: the broker refused some messages since the last call; it has taken all others.
        """
        patience_s = left_s = self._outgoing.plan.timeout_s if timeout_s is None else timeout_s
        with core_failures(self._outgoing.plan.url):
            while not self._connected().flush(min(left_s, POLL_S)):
                left_s -= POLL_S
                if left_s <= 0:
                    raise self._outgoing.not_flushed(self._connected(), patience_s)

    def close(self, timeout_s: float | None = None) -> None:
        """Flushes, says goodbye and closes; does nothing when not connected.

        Raises:
            TimedOutError: not everything was answered within ``timeout_s``; it is closed all the same.
            RejectedError: the broker refused some messages.
        """
        if not self._is_open:
            return
        patience_s = self._outgoing.plan.timeout_s if timeout_s is None else timeout_s
        try:
            self.flush(patience_s)
        finally:
            self._is_open = False
            self._connected().close(GOODBYE_S)

    def abort(self) -> None:
        """Closes without a word; what is not answered may be lost."""
        self._is_open = False
        if self._link is not None:
            self._link.abort()

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
            return
        try:
            self.close()
        except LapwingError:
            # The error on its way out says more than the goodbye that failed because of it.
            self.abort()

    def _connected(self) -> _core.Link:
        if self._link is None:
            raise LapwingError("not connected", where=self._outgoing.plan.url, remedy="call connect(), or use `with`")
        return self._link
