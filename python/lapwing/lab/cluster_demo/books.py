"""What was acknowledged and what came, message by message; and what of it is not as promised: pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

NAMED_MAX = 20
"""Messages that a summary names."""

_FILL = b"." * 40


@dataclass(frozen=True, slots=True)
class Tally:
    """The messages of one QoS.

    Attributes:
        published: Sent at least once.
        acknowledged: The broker has said that it has them (PUBACK, PUBREC).
        delivered: Given to the subscriber at least once.
        lost: Acknowledged and never delivered.
        again: Deliveries of a message that had been delivered.
    """

    published: int
    acknowledged: int
    delivered: int
    lost: int
    again: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run shows.

    Attributes:
        qos_1: QoS 1, which may come again.
        qos_2: QoS 2, which may not.
        sessions_lost: Clients that came back to a broker that did not know their session any more.
        unknown: Deliveries of what nobody sent.
        named: The first messages that were lost or came twice, as ``lost 7:12``: publisher and number.
    """

    qos_1: Tally
    qos_2: Tally
    sessions_lost: int
    unknown: int
    named: tuple[str, ...]

    @property
    def acknowledged(self) -> int:
        """Of both."""
        return self.qos_1.acknowledged + self.qos_2.acknowledged

    @property
    def delivered(self) -> int:
        """Of both."""
        return self.qos_1.delivered + self.qos_2.delivered

    @property
    def lost(self) -> int:
        """Of both."""
        return self.qos_1.lost + self.qos_2.lost

    @property
    def twice(self) -> int:
        """Of QoS 2 alone: QoS 1 is *at least once*."""
        return self.qos_2.again

    @property
    def holds(self) -> bool:
        """Whether everything is as MQTT promises it."""
        return not (self.lost or self.twice or self.sessions_lost or self.unknown)


@dataclass
class _Page:
    """One publisher's messages."""

    qos: int
    published: int = 0
    acknowledged: set[int] = field(default_factory=set)
    delivered: Counter[int] = field(default_factory=Counter)

    @property
    def lost(self) -> list[int]:
        return sorted(self.acknowledged - self.delivered.keys())

    @property
    def again(self) -> list[int]:
        return sorted(number for number, times in self.delivered.items() if times > 1)


class Books:
    """Of publishers 0, 1, 2, ..., each with one subscriber.

    Args:
        levels: The QoS of each publisher, 1 or 2.

    Attributes:
        acknowledged: Messages, so far.
        delivered: Messages, so far, each counted once.
        sessions_lost: See `Verdict`.
    """

    def __init__(self, levels: Sequence[int]) -> None:
        self._pages = [_Page(qos) for qos in levels]
        self.acknowledged = self.delivered = self.sessions_lost = self._unknown = 0

    def publish(self, publisher: int) -> bytes:
        """The payload of its next message, which begins with publisher and number."""
        page = self._pages[publisher]
        page.published += 1
        return b"%d:%d:%s" % (publisher, page.published - 1, _FILL)

    def acknowledge(self, payload: bytes) -> None:
        """The broker has said that it has it."""
        publisher, number = _identity(payload)
        self._pages[publisher].acknowledged.add(number)
        self.acknowledged += 1

    def deliver(self, payload: bytes, subscriber: int) -> None:
        """An application has been given it, by the subscriber of the publisher of the same number."""
        try:
            publisher, number = _identity(payload)
        except ValueError:
            publisher = number = -1
        if publisher != subscriber or not 0 <= number < self._pages[publisher].published:
            self._unknown += 1
            return
        page = self._pages[publisher]
        page.delivered[number] += 1
        self.delivered += page.delivered[number] == 1

    def lose_session(self) -> None:
        """A client was promised that its session stays, and it has gone."""
        self.sessions_lost += 1

    @property
    def missing(self) -> int:
        """Messages that are acknowledged and have not come yet."""
        return sum(len(page.lost) for page in self._pages)

    def verdict(self) -> Verdict:
        """When nothing is on its way any more."""
        named = [f"lost {who}:{number}" for who, page in enumerate(self._pages) for number in page.lost]
        named += [
            f"twice {who}:{number}" for who, page in enumerate(self._pages) if page.qos == 2 for number in page.again
        ]
        return Verdict(
            self._tally(1), self._tally(2), self.sessions_lost, self._unknown, named=tuple(named[:NAMED_MAX])
        )

    def _tally(self, qos: int) -> Tally:
        pages = [page for page in self._pages if page.qos == qos]
        return Tally(
            published=sum(page.published for page in pages),
            acknowledged=sum(len(page.acknowledged) for page in pages),
            delivered=sum(len(page.delivered) for page in pages),
            lost=sum(len(page.lost) for page in pages),
            again=sum(times - 1 for page in pages for times in page.delivered.values()),
        )


def _identity(payload: bytes) -> tuple[int, int]:
    publisher, number, _ = payload.split(b":", 2)
    return int(publisher), int(number)
