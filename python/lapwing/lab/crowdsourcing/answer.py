"""What a controller has found at a point, read from what it wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lapwing.errors import LapwingError

_CLOCKS = ("sent_at", "ingress_at", "forwarded_at", "appended_at", "observed_at")


@dataclass(frozen=True)
class Answer:
    """What a controller has found.

    Attributes:
        received: Messages that it took up, repeats included.
        repeated: Of them those that had come before.
        quarantined: Of them those that break the contract.
        lost_by_serials: Readings that are missing by their serials, without those after a phone's last.
        tiles: Map tiles that it covers.
        clocks: A row per reading, first copies only; see `lapwing.lab.crowdsourcing.clocks`.
        counters: The controller's own, of its connection.
    """

    received: int
    repeated: int
    quarantined: int
    lost_by_serials: int
    tiles: int
    clocks: pa.Table
    counters: Mapping[str, int] = field(default_factory=dict)

    @property
    def different(self) -> int:
        """Readings that arrived, each once."""
        return self.received - self.repeated

    def to_json(self) -> dict[str, Any]:
        """As a row has it."""
        names = ("received", "repeated", "quarantined", "lost_by_serials", "tiles")
        return {name: getattr(self, name) for name in names}


def plain_answer(folder: Path) -> Answer:
    """Of the plain subscriber.

    Raises:
        LapwingError: it has not written anything.
    """
    try:
        totals = json.loads((folder / "totals.json").read_text())
        clocks = pq.read_table(folder / "clocks.parquet")
    except OSError as problem:
        raise LapwingError(f"the controller has written nothing: {problem.strerror}", where=str(folder)) from problem
    counters = {name: totals[name] for name in ("arrived", "unread", "dropped")}
    received, repeated, quarantined = totals["received"], totals["repeated"], totals["quarantined"]
    return Answer(received, repeated, quarantined, totals["lost"], totals["tiles"], clocks, counters)


def tables_answer(folder: Path) -> Answer:
    """Of a job of the pipeline, from its tables.

    Raises:
        LapwingError: there are no tables.
    """
    from lapwing.pipeline.report.tables import ReportError, read

    try:
        clocks = read(folder, "readings", _CLOCKS)
        quality = read(folder, "quality", ("received", "lost", "repeated"))
        quarantined = read(folder, "quarantine", ("reason",)).num_rows
        tiles = len(pc.unique(read(folder, "coverage", ("tile",))["tile"]))
    except ReportError as problem:
        raise LapwingError(f"the controller has written no tables: {problem}", where=str(folder)) from problem
    received, lost, repeated = (int(pc.sum(quality[name]).as_py() or 0) for name in ("received", "lost", "repeated"))
    return Answer(received + quarantined, repeated, quarantined, lost, tiles, clocks)
