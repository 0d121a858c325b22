"""What the loss picture shows: counts over time and per device, read from the ``quality`` table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lapwing.pipeline.report.tables import read, rows
from lapwing.pipeline.report.time_steps import FINE_SPAN_S, TimeSteps

COUNTS = ("received", "gap", "recovered", "lost", "quarantined", "repeated", "reordered", "before_start")
_FINE_READINGS_MAX = 3_000_000


@dataclass(frozen=True, slots=True)
class LossFacts:
    """Counts, exact.

    Attributes:
        totals: Each of ``COUNTS`` over everything.
        steps: The steps of ``over_time``.
        over_time: Each of ``COUNTS`` per step.
        arrivals_steps, arrivals: Readings that arrived, per step; finer than ``steps`` where the run is
        short. devices: Names, in the order of ``per_device``. per_device: Each of ``COUNTS`` per device.
    """

    totals: dict[str, int]
    steps: TimeSteps
    over_time: dict[str, NDArray[np.int64]]
    arrivals_steps: TimeSteps
    arrivals: NDArray[np.int64]
    devices: list[str]
    per_device: dict[str, NDArray[np.int64]]

    @property
    def sent(self) -> int:
        """Readings that were sent, as far as the serials tell: what came, less repeats, plus what has not come."""
        return int(_sent(self.totals))

    @property
    def sent_per_device(self) -> NDArray[np.int64]:
        """The same for each of ``devices``."""
        found: NDArray[np.int64] = _sent(self.per_device)
        return found

    @property
    def clean(self) -> bool:
        """Nothing was lost, refused, repeated or out of order."""
        return not any(self.totals[name] for name in COUNTS if name not in ("received", "before_start"))


def loss_facts(out: Path) -> LossFacts | None:
    """Reads the table; None when it has no rows.

    Raises:
        ReportError: the table cannot be read.
    """
    table = read(out, "quality", ("device", "minute", *COUNTS))
    if not table.num_rows:
        return None
    at_us = _instants(table["minute"])
    steps = TimeSteps.over(int(at_us.min()), int(at_us.max()), finest_s=60)
    columns = {name: pc.fill_null(table[name], 0).to_numpy() for name in COUNTS}
    encoded = table["device"].combine_chunks().dictionary_encode()
    device = encoded.indices.to_numpy().astype(np.int64)
    names = encoded.dictionary.to_pylist()
    over_time = {name: steps.sums(at_us, column) for name, column in columns.items()}
    arrivals_steps, arrivals = _arrivals(out, at_us, steps, over_time["received"])
    return LossFacts(
        totals={name: int(column.sum()) for name, column in columns.items()},
        steps=steps,
        over_time=over_time,
        arrivals_steps=arrivals_steps,
        arrivals=arrivals,
        devices=names,
        per_device={
            name: np.bincount(device, weights=column, minlength=len(names)).astype(np.int64)
            for name, column in columns.items()
        },
    )


def _sent(counts: Mapping[str, Any]) -> Any:
    return counts["received"] - counts["repeated"] + counts["quarantined"] + counts["lost"]


def _arrivals(
    out: Path, minutes: NDArray[np.int64], steps: TimeSteps, received: NDArray[np.int64]
) -> tuple[TimeSteps, NDArray[np.int64]]:
    short = minutes.max() - minutes.min() + 60_000_000 <= FINE_SPAN_S * 1_000_000
    if not short or not 0 < rows(out, "readings") <= _FINE_READINGS_MAX:
        return steps, received
    clock = read(out, "readings", ("ingress_at",))["ingress_at"]
    at_us = _instants(pc.drop_null(clock))
    if not len(at_us):
        return steps, received
    fine = TimeSteps.over(int(at_us.min()), int(at_us.max()))
    return fine, fine.sums(at_us, np.ones(len(at_us), dtype=np.int64))


def _instants(column: pa.ChunkedArray) -> NDArray[np.int64]:
    instants: NDArray[np.int64] = column.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
    return instants
