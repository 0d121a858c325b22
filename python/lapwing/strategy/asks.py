"""What a strategy is asked: frozen structs, made from the rows that Rust hands over."""

from __future__ import annotations

import msgspec


class Member(msgspec.Struct, frozen=True):
    """One member of the group, as it was when the message was asked about."""

    client_id: str
    """Its client id; empty when it has left meanwhile."""
    identity: int
    """A stable hash of its client id: the same client has the same one when it comes back."""
    rtt_ms: float
    """The way there and back."""
    service_ms: float
    """Its work on one message; with several workers: of one of them."""
    overdue_ms: float
    """By how much its oldest message is overdue; 0: not at all."""
    inflight: int
    """Messages that it has and has not acknowledged."""
    limit: int
    """Most that it may have: its Receive Maximum, less after a stall."""
    workers: int
    """How many messages it works on at a time, as declared."""
    can_take: bool
    """Whether it may have one more: it is neither full nor paused."""
    is_blind: bool
    """It acknowledges on receipt, as far as one can tell: ``service_ms`` means nothing."""


class Ask(msgspec.Struct, frozen=True):
    """One message that wants a member."""

    group: str
    """The group, as ``lapwing groups`` shows it."""
    number: int
    """Which message of the group. One that comes back from a member keeps its number."""
    members: tuple[Member, ...]
    """Everybody who is here. Messages asked about at once share one tuple."""
    backlog: int
    """Messages that wait in the group's queue."""
    is_critical: bool
    """Whether it lies in the critical lane."""
    key: int | None
    """A hash of its key; None: it has none."""
    client: int
    """A hash of the publisher's client id."""
    topic: int
    """A hash of its topic."""

    @property
    def open(self) -> list[Member]:
        """The members that may have one more."""
        return [member for member in self.members if member.can_take]
