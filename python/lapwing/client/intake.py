"""What a consumer is, whether it blocks or not: its settings, its connection, how messages end."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Literal

from lapwing import _core
from lapwing.client.counters import Counters
from lapwing.client.failures import core_failures
from lapwing.client.news import News, start_async
from lapwing.client.options import ConnectOptions, LinkPlan, number, one_of
from lapwing.errors import ConfigError, LapwingError

LOG = logging.getLogger("lapwing.client")

Delivery = _core.Delivery
"""A message that a consumer has taken: the fields of ``Message``, made when they are read."""

_SESSION_S = 60
"""A consumer that is back within a minute finds what came meanwhile, and what it had not finished."""
_RECEIVE_MAXIMUM = 128


class Intake:
    """See `Consumer`, which has the arguments."""

    def __init__(
        self,
        url: str,
        filters: str | Sequence[str],
        *,
        group: str | None,
        qos: int,
        workers: int,
        ack: Literal["processed", "received"],
        on_error: Literal["refuse", "stop"],
        high: int,
        low: int | None,
        high_bytes: int,
        batch: int | None,
        probe_ms: int | None,
        report: bool,
        report_every: int,
        connect: ConnectOptions,
        envelope: bool = False,
    ) -> None:
        self.workers = number("workers", workers, 1, 1024)
        self.group = group
        self.filters = [filters] if isinstance(filters, str) else list(filters)
        self.batch = None if batch is None else number("batch", batch, 1, 65_535)
        self.stops_on_error = one_of("on_error", on_error, ("refuse", "stop")) == "stop"
        self.link: _core.Link | None = None
        self.is_open = False
        self._probe_ms = None if probe_ms is None else number("probe_ms", probe_ms, 50, 60_000)
        self._ack = one_of("ack", ack, ("processed", "received"))
        self._report = report
        self._envelope = envelope
        self._marks = (number("high", high, 1, 1 << 30), low)
        self._default_receive_maximum = "receive_maximum" not in connect
        self.plan = LinkPlan(url, connect, session_expiry_s=_SESSION_S)
        self.plan.settings["qos"] = qos
        self.plan.settings["filters"] = [_shared(each, group) for each in self.filters]
        self.plan.settings["on_receipt"] = ack == "received"
        self.plan.settings["high_bytes"] = number("high_bytes", high_bytes, 1, 1 << 40)
        self.plan.settings["report_every"] = number("report_every", report_every, 0, 1 << 31) if report else None

    def prepare(self) -> LinkPlan:
        """The plan, with what follows from ``batch``."""
        most = max(_RECEIVE_MAXIMUM, 2 * self.workers, 2 * (self.batch or 0))
        if self._default_receive_maximum:
            self.plan.settings["receive_maximum"] = min(most, 65_535)
        high, low = self._marks
        high = max(high, self.batch or 0)
        self.plan.settings["high"] = high
        self.plan.settings["low"] = number("low", high // 2 if low is None else low, 0, high - 1)
        if self._report:
            self.plan.declare(ack=self._ack, workers=self.workers, batch=self.batch, probe_ms=self._probe_ms)
        if self._envelope and self.plan.version == 5:
            self.plan.settings["user_properties"].append(("lapwing-envelope", "1"))
        return self.plan

    def batch_of(self, most: int | None) -> int:
        """How many make a batch; the broker is told, if it has not been."""
        size = number("max", most or self.batch or 1000, 1, 65_535)
        if self.batch != size:
            self.batch = size
            if self.link is not None and self.is_open and self._report:
                self.link.declare(f'{{"batch":{size}}}')
        return size

    def opened(self, link: _core.Link) -> None:
        """The connection stands."""
        self.link, self.is_open = link, True

    async def open_async(self) -> News:
        """Connects without blocking the event loop."""
        plan = self.prepare()
        link, news = await start_async(plan)
        self.opened(link)
        return news

    def say_goodbye(self, timeout_s: float) -> None:
        """Sends what is finished, and DISCONNECT; what is not finished stays the broker's."""
        self.is_open = False
        self.connected().close(timeout_s)

    def abort(self) -> None:
        """Breaks the connection, if there is one."""
        self.is_open = False
        if self.link is not None:
            self.link.abort()

    def connected(self) -> _core.Link:
        """The connection; the last one, once it is closed."""
        if self.link is None:
            raise LapwingError("not connected", where=self.plan.url, remedy="call connect(), or use `with`")
        return self.link

    def counters(self) -> Counters:
        """As of now."""
        return Counters.of(self.connected())

    def refuse(self, deliveries: list[Delivery], reason: str, code: int) -> None:
        """Ends them for good; the broker is told why (5.0). Half of a surrogate pair, as of JSON, is escaped."""
        words = reason.encode(errors="backslashreplace").decode()
        with core_failures(self.plan.url):
            self.connected().refuse(deliveries, code, words)

    def failed(self, deliveries: list[Delivery], error: Exception) -> None:
        """A handler raised, and others go on: refuses its messages."""
        topic = deliveries[0].topic
        LOG.error("a handler refused %d message(s), the first on %r", len(deliveries), topic, exc_info=error)
        self.refuse(deliveries, f"{type(error).__name__}: {_said(error)}", 0x80)

    def reply_arguments(self, message: Delivery) -> tuple[str, bytes | None]:
        """Where to answer and with what.

        Raises:
            ConfigError: nobody asked.
        """
        topic = message.response_topic
        if topic is None:
            raise ConfigError(
                "a message without a response topic cannot be replied to",
                where=f"message on {message.topic!r}",
                remedy="ask with request(), or set response_topic",
            )
        return topic, message.correlation_data


def _said(error: Exception) -> str:
    # A handler's own exception: whatever it does here would end the consumer.
    try:
        return str(error)
    except Exception as failure:
        return f"its words failed with {type(failure).__name__}"


def _shared(topic_filter: str, group: str | None) -> str:
    if group is None:
        return topic_filter
    if not group or any(character in group for character in "/+#"):
        raise ConfigError(f"group = {group!r}", remedy="give a name without /, + and #")
    if topic_filter.startswith("$share/"):
        raise ConfigError(f"filter {topic_filter!r} with group = {group!r}", remedy="name the group once")
    return f"$share/{group}/{topic_filter}"
