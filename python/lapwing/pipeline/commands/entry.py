"""One command and how it stands: a pure state machine.

Times are microseconds since the epoch, by the wall clock as it was when the command was decided. They go on from there
as time passes, whatever is done to that clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from lapwing.contracts.commands import Answer, Command, Measure, decode

SECOND_US = 1_000_000
OPEN = ("outbox", "published", "acknowledged")
FAILED = ("refused", "expired")
PUBLISHED_MAX = 3
"""So often a command without an answer is published before its time is over."""
SLACK_US = 60 * SECOND_US
"""So much longer than it takes a command that was begun may go without its end."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAST_US = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
"""The last microsecond that a table can say."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of ``commands``, with what it takes to publish it again."""

    id: str
    device: str
    do: str
    tile: str | None
    payload: bytes
    decided_at: int
    expires_at: int
    committed_at: int
    state: str = "outbox"
    published_at: int | None = None
    published: int = 0
    acknowledged_at: int | None = None
    ended_at: int | None = None
    reason: str | None = None
    readings: int | None = None
    replaced_by: str | None = None
    lag_us: int = 0
    """So far its times are behind the steady clock of this run; no table has it. See `Clock`."""

    @property
    def is_open(self) -> bool:
        """Whether something may still become of it."""
        return self.state in OPEN

    @property
    def lasts_us(self) -> int:
        """How long it takes, by what it orders."""
        command = decode(self.payload, Command)
        order = command.order if command else None
        return round(order.seconds * SECOND_US) if isinstance(order, Measure) else 0

    def at(self, now_us: int, steady_us: int) -> Entry:
        """With times that go on from ``now_us``, as the steady clock goes on from ``steady_us``."""
        return replace(self, lag_us=steady_us - now_us)

    @property
    def newest_at(self) -> int:
        """When something last became of it, by this side's clock."""
        return max(self.committed_at, self.published_at or 0, self.ended_at or 0)

    def now_us(self, steady_us: int) -> int:
        """The time as its other times are, when the steady clock says ``steady_us``."""
        return steady_us - self.lag_us

    @property
    def over_at(self) -> int:
        """When nothing more comes of it: nobody may begin it any more; or who began at the last moment has ended."""
        return self.expires_at + (self.lasts_us + SLACK_US if self.state == "acknowledged" else 0)

    def with_answer(self, answer: Answer, now_us: int) -> Entry:
        """After an answer of its device. One that says what is known, or comes after the end, changes nothing; a device
        that did it after all has done it, though it was given up before.
        """
        answered_us = _clamped_us(answer.answered_at)
        begun_us = answered_us if self.acknowledged_at is None else self.acknowledged_at
        if answer.outcome == "done" and self.state in (*OPEN, "expired"):
            return replace(
                self, state="done", acknowledged_at=begun_us, ended_at=now_us, reason=None, readings=answer.readings
            )
        if not self.is_open:
            return self
        if answer.outcome == "refused":
            return replace(self, state="refused", ended_at=now_us, reason=answer.reason or "unsaid")
        if answer.outcome == "acknowledged" and self.state != "acknowledged":
            return replace(self, state="acknowledged", acknowledged_at=begun_us)
        return self

    def with_publication(self, now_us: int) -> Entry:
        """After the broker has taken it (once more)."""
        first_us = now_us if self.published_at is None else self.published_at
        state = "published" if self.state == "outbox" else self.state
        return replace(self, state=state, published_at=first_us, published=self.published + 1)

    def with_time(self, now_us: int, *, is_gone: bool = False) -> Entry:
        """Given up, where its time is over: to begin, or to end; or where its device began and said that it is gone."""
        if not self.is_open:
            return self
        if is_gone and self.state == "acknowledged":
            return replace(self, state="expired", ended_at=now_us, reason="gone")
        if now_us > self.over_at:
            return replace(self, state="expired", ended_at=now_us, reason=_GIVEN_UP[self.state])
        return self

    def with_replacement(self, other: str) -> Entry:
        """After another command has taken its place."""
        return replace(self, state="reassigned", replaced_by=other)

    def wants_repeat(self, now_us: int, repeat_us: int) -> bool:
        """Whether it is time to publish it once more: nobody has answered; or it should have ended and nobody said so.

        A device that knows it does not begin again: it answers as before, and an answer that was lost comes.
        """
        if self.state not in ("published", "acknowledged") or self.published >= PUBLISHED_MAX:
            return False
        if self.published_at is None or now_us >= self.over_at:
            return False
        works_us = self.lasts_us if self.state == "acknowledged" else 0
        return self.published_at + works_us + self.published * repeat_us <= now_us

    def row(self) -> dict[str, Any]:
        """As ``commands`` has it."""
        return {name: getattr(self, name) for name in _COLUMNS}


def _clamped_us(at: datetime) -> int:
    """Microseconds since the epoch; a device's clock may say anything, and a table cannot."""
    return min(max((at - _EPOCH) // _MICROSECOND, 0), _LAST_US)


_GIVEN_UP = {"outbox": "never_published", "published": "no_answer", "acknowledged": "no_end"}
"""Why, by the state in which its time was over."""
_COLUMNS = tuple(name for name in Entry.__slots__ if name not in ("payload", "lag_us"))
