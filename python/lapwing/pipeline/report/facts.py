"""All facts of one report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from lapwing.contracts.tables import TABLES
from lapwing.pipeline.report.coverage_facts import CoverageFacts
from lapwing.pipeline.report.freshness_facts import FreshnessFacts
from lapwing.pipeline.report.latency_facts import RouteFacts
from lapwing.pipeline.report.loss_facts import LossFacts
from lapwing.pipeline.report.tables import read, rows


@dataclass(frozen=True, slots=True)
class Tables:
    """Rows per table, and why payloads went to quarantine (reason to rows, most first)."""

    rows: dict[str, int]
    quarantine: dict[str, int]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the pictures and the page show; a part is None or empty where its table has no rows.

    ``freshness`` is there for a job that has a rule of what is fresh.
    """

    coverage: CoverageFacts | None
    latency: list[RouteFacts]
    loss: LossFacts | None
    tables: Tables
    credit: str
    freshness: FreshnessFacts | None = None


def table_rows(out: Path) -> Tables:
    """Counts the rows of every table.

    Raises:
        ReportError: a table is missing or cannot be read.
    """
    counted = {name: rows(out, name) for name in TABLES}
    reasons: dict[str, int] = {}
    if counted["quarantine"]:
        found = pc.value_counts(read(out, "quarantine", ("reason",))["reason"].combine_chunks())
        pairs = zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)
        reasons = dict(sorted(pairs, key=lambda pair: -pair[1]))
    return Tables(counted, reasons)
