"""What a publisher is, whether it blocks or not: its settings, and how a message is put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lapwing import _core
from lapwing.client.options import ConnectOptions, LinkPlan, number, one_of
from lapwing.errors import BufferFullError, LapwingError, TimedOutError

SESSION_S = 300
"""A broker that is back within five minutes knows what it has received already."""
GOODBYE_S = 1.0
"""For DISCONNECT, after everything was flushed or given up."""
_DAY_MS = 86_400_000


@dataclass(frozen=True)
class Outgoing:
    """See `Publisher`, which has the arguments."""

    plan: LinkPlan
    waits: bool
    deadline_property: str
    priority_property: str

    @classmethod
    def of(
        cls,
        url: str,
        connect: ConnectOptions,
        *,
        window: int | None,
        buffer_messages: int,
        buffer_bytes: int,
        when_full: Literal["wait", "raise"],
        deadline_property: str,
        priority_property: str,
    ) -> Outgoing:
        """Checks the arguments."""
        plan = LinkPlan(url, connect, session_expiry_s=SESSION_S)
        plan.begin_anew()
        if window is not None:
            plan.settings["window"] = number("window", window, 1, 65_000)
        plan.settings["buffer_messages"] = number("buffer_messages", buffer_messages, 1, 1 << 30)
        plan.settings["buffer_bytes"] = number("buffer_bytes", buffer_bytes, 1, 1 << 40)
        waits = one_of("when_full", when_full, ("wait", "raise")) == "wait"
        return cls(plan, waits, deadline_property, priority_property)

    def properties(
        self, given: Sequence[tuple[str, str]], deadline_ms: int | None, priority: str | None
    ) -> list[tuple[str, str]]:
        """User properties, with deadline and priority among them."""
        properties = list(given)
        if deadline_ms is not None:
            properties.append((self.deadline_property, str(number("deadline_ms", deadline_ms, 1, _DAY_MS))))
        if priority is not None:
            properties.append((self.priority_property, one_of("priority", priority, ("critical", "bulk"))))
        return properties

    def no_room(self, topic: str, waited_s: float) -> LapwingError:
        """The error for a message that finds the buffer full."""
        where, remedy = (
            f"publish to {topic!r}",
            "publish less, raise buffer_messages or buffer_bytes, or look at the broker",
        )
        if self.waits:
            return TimedOutError(f"no room in the buffer within {waited_s:g} s", where=where, remedy=remedy)
        return BufferFullError("the buffer is full", where=where, remedy=remedy)

    def not_flushed(self, link: _core.Link, timeout_s: float) -> TimedOutError:
        """The error for answers that did not come."""
        left = link.counters()["unanswered"]
        what = f"{left} messages are not answered after {timeout_s:g} s"
        return TimedOutError(what, where=self.plan.url, remedy="wait longer, or look at the broker")


def encoded(payload: bytes | str) -> bytes:
    """Text becomes UTF-8."""
    return payload.encode() if isinstance(payload, str) else payload
