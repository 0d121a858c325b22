"""The five clocks of a message, kept apart, and the routes between them.

Device clocks skew and may be months apart, so a route that starts at ``sent`` can be negative; nothing in the
pipeline drops a message for its age.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """One moment in a message's life; ``column`` holds it in every record that carries times."""

    name: str
    column: str
    meaning: str


CLOCKS = (
    Clock("sent", "sent_at", "the device's clock as it sent the message"),
    Clock("ingress", "ingress_at", "the broker's clock as it read the message from the socket"),
    Clock("appended", "appended_at", "the broker's clock as it wrote the message into the stream"),
    Clock("forwarded", "forwarded_at", "the bridge's clock as it handed it on; null without a bridge"),
    Clock("observed", "observed_at", "Spark's clock as it planned the batch that holds the message"),
)


@dataclass(frozen=True, slots=True)
class Route:
    """A pair of clocks; its latency is ``end - start``."""

    start: Clock
    end: Clock

    @property
    def name(self) -> str:
        """As the ``latency`` table's ``route`` column says it: ``sent->ingress``."""
        return f"{self.start.name}->{self.end.name}"


_BY_NAME = {clock.name: clock for clock in CLOCKS}
ROUTES = tuple(
    Route(_BY_NAME[start], _BY_NAME[end])
    for start, end in (
        ("sent", "ingress"),
        ("ingress", "appended"),
        ("appended", "observed"),
        ("ingress", "observed"),
        ("sent", "observed"),
    )
)
