"""One command and how it stands: a pure state machine. Times are microseconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lapwing.contracts.commands import Answer

OPEN = ("outbox", "published", "acknowledged")
FAILED = ("refused", "expired")
PUBLISHED_MAX = 3
"""So often a command without an answer is published before its time is over."""


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

    @property
    def is_open(self) -> bool:
        """Whether something may still become of it."""
        return self.state in OPEN

    def with_answer(self, answer: Answer, now_us: int) -> Entry:
        """After an answer of its device. One that says what is known, or comes after the end, changes nothing; a device
        that did it after all has done it, though it was given up before.
        """
        answered_us = round(answer.answered_at.timestamp() * 1e6)
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

    def with_time(self, now_us: int, patience_us: int) -> Entry:
        """Given up, where its time is over: to begin, or ``patience_us`` after that to end."""
        if self.state in ("outbox", "published") and now_us > self.expires_at:
            reason = "never_published" if self.state == "outbox" else "no_answer"
            return replace(self, state="expired", ended_at=now_us, reason=reason)
        if self.state == "acknowledged" and now_us > self.expires_at + patience_us:
            return replace(self, state="expired", ended_at=now_us, reason="no_end")
        return self

    def with_replacement(self, other: str) -> Entry:
        """After another command has taken its place."""
        return replace(self, state="reassigned", replaced_by=other)

    def wants_repeat(self, now_us: int, repeat_us: int) -> bool:
        """Whether it is time to publish it once more: nobody has answered, and it has not expired."""
        if self.state != "published" or self.published_at is None or self.published >= PUBLISHED_MAX:
            return False
        return self.published_at + self.published * repeat_us <= now_us < self.expires_at

    def row(self) -> dict[str, Any]:
        """As ``commands`` has it."""
        return {name: getattr(self, name) for name in _COLUMNS}


_COLUMNS = tuple(name for name in Entry.__slots__ if name != "payload")
