"""What a connection has counted, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lapwing import _core


@dataclass(frozen=True)
class Counters:
    """Counts since the start, and how things stand now.

    Attributes:
        phase: ``starting``, ``up``, ``away`` (the connection broke and is made again) or ``over``.
        waiting: Messages here that nobody has taken yet.
        waiting_bytes: Bytes of their topics, payloads and properties.
        working: Messages taken and not finished.
        is_high: The high mark was reached: nothing is read until the low one is.
        received: Messages that arrived.
        processed: Messages finished well.
        refused: Messages refused, because a handler raised or said so.
        late: Messages finished after their connection was gone: the broker gives them out again. Another consumer's
            that were finished here, and are its own still.
        returned: Messages given back unread because their connection was gone: they come again, here or elsewhere.
        dropped: QoS 0 messages dropped: while closing, or because far more came than the marks allow.
        service_us: Mean work of one worker on one message, in microseconds; 0 before the first.
        rate_per_s: Messages finished in the last second.
        reports: Reports sent by themselves: when a mark was crossed, and to probes.
        connections: Connections made, the first one included.
        published: Messages handed over to be published.
        acknowledged: Of those of QoS 1 and 2: answered well.
        rejected: Of those: refused by the broker, not fit for it, or expired before they could be sent.
        sent_again: Of those: sent again after a reconnection.
        unanswered: Handed over and not sent, or sent and not answered.
        is_told: The broker tells who published each message, as ``envelope`` asked.
    """

    phase: Literal["starting", "up", "away", "over"]
    waiting: int
    waiting_bytes: int
    working: int
    is_high: bool
    received: int
    processed: int
    refused: int
    late: int
    returned: int
    dropped: int
    service_us: int
    rate_per_s: int
    reports: int
    connections: int
    published: int
    acknowledged: int
    rejected: int
    sent_again: int
    unanswered: int
    is_told: bool = False

    @classmethod
    def of(cls, link: _core.Link) -> Counters:
        """As of now."""
        return cls(**link.counters())
