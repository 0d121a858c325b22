"""Latency from clock to clock, of every reading that was received: exact percentiles, nearest rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lapwing.pipeline.transforms.groups import ints

Ints = NDArray[np.int64]
END_TO_END = "end to end"


@dataclass(frozen=True)
class Hop:
    """A part of the way, between two clocks."""

    name: str
    start: str
    end: str


HOPS = (
    Hop("device to broker", "sent_at", "ingress_at"),
    Hop("broker to bridge", "ingress_at", "forwarded_at"),
    Hop("broker to Kafka", "ingress_at", "appended_at"),
    Hop("Kafka to controller", "appended_at", "observed_at"),
    Hop("broker to controller", "ingress_at", "observed_at"),
    Hop(END_TO_END, "sent_at", "observed_at"),
)
"""``sent_at`` is when the reading was due; ``observed_at`` when the controller took it up. A hop is measured where both
its clocks have been read."""


@dataclass(frozen=True)
class Latency:
    """Of one hop, in milliseconds."""

    count: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float

    def to_json(self) -> dict[str, float]:
        """As a row has it."""
        return {name: round(value, 3) for name, value in asdict(self).items()}


def latency(us: Ints) -> Latency | None:
    """Of some readings; None where there are none."""
    if not len(us):
        return None
    ordered = np.sort(us) / 1000
    p50, p95, p99, p999 = (_at(ordered, per_mille) for per_mille in (500, 950, 990, 999))
    return Latency(len(ordered), p50, p95, p99, p999, float(ordered[-1]))


def _at(ordered: NDArray[np.float64], per_mille: int) -> float:
    rank = max(1, (len(ordered) * per_mille + 999) // 1000)
    return float(ordered[rank - 1])


def latencies(clocks: pa.Table, from_us: int, to_us: int, without: Sequence[str] = ()) -> dict[str, Latency]:
    """Per hop the latency of the readings that were due from ``from_us`` up to ``to_us``.

    Args:
        clocks: A row per reading; any of the clocks' columns of `HOPS`, null where nobody read it.
        from_us: By the wall clock; what was due before warmed things up.
        to_us: The same.
        without: Hops that this architecture does not have.
    """
    sent_us = ints(clocks["sent_at"])
    measured = clocks.filter(pa.array((sent_us >= from_us) & (sent_us < to_us)))
    found: dict[str, Latency] = {}
    for hop in HOPS:
        if hop.name in without or not {hop.start, hop.end} <= set(clocks.column_names):
            continue
        both = measured.filter(pa.compute.and_(measured[hop.start].is_valid(), measured[hop.end].is_valid()))
        one = latency(ints(both[hop.end]) - ints(both[hop.start]))
        if one is not None:
            found[hop.name] = one
    return found


def median_of(runs: Sequence[Mapping[str, Latency]]) -> dict[str, Latency]:
    """Per hop the median of each figure over several runs; counts are summed, the maximum is that of all."""
    names = dict.fromkeys(name for run in runs for name in run)
    return {name: _median([run[name] for run in runs if name in run]) for name in names}


def _median(runs: Sequence[Latency]) -> Latency:
    def middle(figure: str) -> float:
        return float(np.median([getattr(run, figure) for run in runs]))

    p50, p95, p99, p999 = (middle(figure) for figure in ("p50_ms", "p95_ms", "p99_ms", "p999_ms"))
    return Latency(sum(run.count for run in runs), p50, p95, p99, p999, max(run.max_ms for run in runs))
