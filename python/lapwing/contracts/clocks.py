"""The five clocks of a message, kept apart, and the routes between them.

Device clocks skew and may be months apart, so a route that starts at ``sent`` can be negative; nothing in the
pipeline drops a message for its age.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

DATE_US_MIN, DATE_US_MAX = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The years 1 to 9999, in microseconds since the epoch: what Python and Spark can make a date of."""


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


def with_dates(envelopes: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows, ``sent_at`` null where no date can be: ``to_pylist`` would raise OverflowError at such a row.

    It is the device's own word, and there are streams into which a broker let any number.

    Args:
        envelopes: Rows with a column ``sent_at`` in microseconds.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    said = envelopes.column("sent_at")
    us = said.cast(pa.int64())
    is_date = pc.and_(pc.greater_equal(us, DATE_US_MIN), pc.less_equal(us, DATE_US_MAX))
    if pc.all(is_date).as_py() is not False:
        return envelopes
    dates = pc.if_else(is_date, said, pa.scalar(None, said.type))
    at = envelopes.schema.get_field_index("sent_at")
    return envelopes.set_column(at, envelopes.schema.field(at), dates)
