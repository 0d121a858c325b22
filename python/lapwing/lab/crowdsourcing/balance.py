"""Where readings were lost, and why: what was due is what was received and what each place says it has lost.

Nothing here is reckoned as what is left over. What no place accounts for is a figure of its own, and should be 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lapwing.lab.crowdsourcing.scrape import Metrics

Place = Literal["publisher", "broker", "bridge", "kafka", "controller"]
PLACES: tuple[Place, ...] = ("publisher", "broker", "bridge", "kafka", "controller")

Losses = Mapping[str, int]
"""Readings by reason; none is 0."""


@dataclass(frozen=True)
class Balance:
    """The account of one point.

    Attributes:
        due: Readings that the phones had to send.
        received: Different readings that the controller has: valid, or in quarantine.
        lost: By place and reason.
    """

    due: int
    received: int
    lost: Mapping[Place, Losses]

    @property
    def lost_total(self) -> int:
        """All that has a place and a reason."""
        return sum(sum(reasons.values()) for reasons in self.lost.values())

    @property
    def unaccounted(self) -> int:
        """What nobody accounts for; negative: more was received and lost than was due."""
        return self.due - self.received - self.lost_total

    @property
    def missing(self) -> int:
        """Readings that were due and that the controller does not have, whoever has lost them."""
        return self.due - self.received

    def plus(self, other: Balance) -> Balance:
        """Of two points together."""
        places = [place for place in PLACES if place in self.lost or place in other.lost]
        lost = {place: summed((self.lost.get(place, {}), other.lost.get(place, {}))) for place in places}
        return Balance(self.due + other.due, self.received + other.received, lost)

    def to_json(self) -> dict[str, Any]:
        """As a row has it: every place, whether it has lost something or not."""
        return {
            "due": self.due,
            "received": self.received,
            "lost": {place: dict(self.lost.get(place, {})) for place in PLACES},
            "lost_total": self.lost_total,
            "unaccounted": self.unaccounted,
        }


def summed(accounts: Iterable[Losses]) -> dict[str, int]:
    """Reasons added up; those of 0 are left out."""
    total: dict[str, int] = {}
    for account in accounts:
        for reason, count in account.items():
            total[reason] = total.get(reason, 0) + count
    return {reason: count for reason, count in total.items() if count}


def publisher_losses(due: int, fleet: Mapping[str, int], taken_in: int) -> dict[str, int]:
    """What never came into the broker.

    Args:
        due: Readings of the schedule.
        fleet: The fleet's report: ``sent``, ``rejected``, ``resent``.
        taken_in: PUBLISH packets that the broker has read, those that were sent again included.
    """
    return summed(
        [
            {
                "never sent": due - fleet["sent"],
                "refused by the broker": fleet["rejected"],
                # A reading that was sent twice may have been read twice: it is not lost then.
                "sent, not taken in": max(0, fleet["sent"] - taken_in),
            }
        ]
    )


def broker_drops(metrics: Metrics) -> dict[str, int]:
    """What the broker says it has dropped, on the way to clients and to groups."""
    names = ("lapwing_messages_dropped_total", "lapwing_group_messages_dropped_total")
    return summed(metrics.by(name, "reason") for name in names)


def broker_losses(metrics: Metrics) -> dict[str, int]:
    """What the broker took in and did not hand on: what it dropped, and what waited in it at the end."""
    waiting = metrics.total("lapwing_group_waiting_messages") + metrics.total("lapwing_group_unacknowledged_messages")
    return summed([broker_drops(metrics), {"waiting at the end": round(waiting)}])


def subscriber_losses(qos: int, counters: Mapping[str, int], broker: Metrics) -> dict[str, int]:
    """What the broker wrote to a plain subscriber and it did not take up.

    At QoS 1 there is nothing: the broker still has what was not acknowledged, and says what became of it.

    Args:
        qos: Of the subscription.
        counters: The subscriber's: ``arrived``, ``unread`` and ``dropped``.
        broker: Its metrics after the subscriber has gone.
    """
    if qos:
        return {}
    written = round(broker.total("lapwing_messages_sent_total"))
    return summed(
        [
            {
                "in the connection at the end": max(0, written - counters["arrived"]),
                "unread at the end": counters["unread"],
                "dropped by the client": counters["dropped"],
            }
        ]
    )


def bridge_losses(members: Iterable[Metrics]) -> dict[str, int]:
    """What the bridge took and did not carry: dead letters, by reason, and QoS 0 for which it had no room.

    What it could not carry yet is the broker's.
    """
    return summed(
        member.by("lapwing_bridge_dead_letters_total", "reason")
        | {"no room": round(member.total("lapwing_bridge_dropped_total"))}
        for member in members
    )


def kafka_losses(carried: int, records: int) -> dict[str, int]:
    """What Kafka has confirmed and does not have.

    Args:
        carried: Messages that the bridge says Kafka has confirmed, dead letters among them.
        records: That the topics hold, dead letters among them.
    """
    return summed([{"confirmed and not there": max(0, carried - records)}])


def reader_losses(records: int, read: int) -> dict[str, int]:
    """What is in Kafka and the controller has not read.

    Args:
        records: That the topic holds.
        read: That the controller has taken up, repeats included.
    """
    return summed([{"unread at the end": max(0, records - read)}])
