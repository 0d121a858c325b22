"""What a demo did, in figures: ``summary.json`` and the lines on the screen come from here."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lapwing
from lapwing.lab.malformed_rows import MalformedRows
from lapwing.lab.trace_repairs import Repairs
from lapwing.pipeline.report.facts import Facts
from lapwing.pipeline.report.whole import drawing, whole

_PACKAGES = ("pyspark", "deltalake", "pyarrow", "matplotlib")


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of one demo; see ``docs`` of each field in `figures`.

    Attributes:
        arguments: As given.
        sent: Readings that the broker acknowledged.
        received: Readings that reached the job, repeats included.
        lost, repeated, reordered: As the ``quality`` table counts them, from serial numbers.
        missing: Readings acknowledged that are not in ``readings``: must be 0.
        rows: Rows per table.
        latency_us: Per route p50, p95, p99, p99.9, in microseconds.
        seconds: Per phase, and in all.
        versions: Of what took part.
        fleet: The fleet's own report.
        malformed: Rows of traces that could not be sent, the first of them, each with file and line.
        malformed_rows: How many there are, by file.
        repaired: What was mended in rows of traces: by rule, how often and where first.
    """

    arguments: dict[str, Any]
    sent: int
    received: int
    lost: int
    repeated: int
    reordered: int
    missing: int
    rows: dict[str, int]
    latency_us: dict[str, dict[str, float]]
    seconds: dict[str, float]
    versions: dict[str, str]
    fleet: dict[str, Any]
    malformed: list[str] = field(default_factory=list)
    malformed_rows: dict[str, int] = field(default_factory=dict)
    repaired: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Everything that was sent is in the tables, once."""
        quiet = not (self.lost or self.repeated or self.missing or self.rows["quarantine"])
        return quiet and bool(self.fleet["complete"])

    def write(self, path: Path) -> None:
        """Writes ``summary.json``."""
        document = {"seed": self.arguments["seed"], **asdict(self)}
        with drawing(path.parent), whole(path) as part:
            part.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def summarise(
    arguments: dict[str, Any],
    fleet: dict[str, Any],
    facts: Facts,
    seconds: dict[str, float],
    malformed: MalformedRows,
    repairs: Repairs | None = None,
) -> Summary:
    """Puts the figures together; the counts come from the tables, never from the fleet alone."""
    totals = facts.loss.totals if facts.loss else {"received": 0, "lost": 0, "repeated": 0, "reordered": 0}
    return Summary(
        arguments=arguments,
        sent=fleet["acknowledged"],
        received=totals["received"],
        lost=totals["lost"],
        repeated=totals["repeated"],
        reordered=totals["reordered"],
        missing=fleet["acknowledged"] - facts.tables.rows["readings"] - facts.tables.rows["quarantine"],
        rows=facts.tables.rows,
        latency_us={
            route.name: {
                "p50": route.p50_us,
                "p95": route.p95_us,
                "p99": route.p99_us,
                "p99.9": route.p999_us,
            }
            for route in facts.latency
        },
        seconds={name: round(took, 3) for name, took in seconds.items()},
        versions=_versions(),
        fleet=fleet,
        malformed=[str(row) for row in malformed.first],
        malformed_rows=dict(malformed.by_file),
        repaired=repairs.as_json() if repairs else {},
    )


def _versions() -> dict[str, str]:
    return {
        "lapwing": lapwing.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
    }
