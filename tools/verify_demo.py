"""Verifies what `lapwing demo --out DIR` left: sums, rows of tables, times, pictures and report. Used by CI.

    python tools/verify_demo.py out/demo

Exit status 0 when all holds; 1 with one line for each thing that does not.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from deltalake import DeltaTable
from pyarrow.parquet import ParquetFile

TABLES = ("readings", "quarantine", "quality", "latency", "coverage")
PICTURES = ("coverage.png", "latency.png", "loss.png")
PHASES = ("prepare", "broker", "spark", "connect", "send", "catch_up", "draw", "total")
SIZE_BYTES_MIN = 10_000
"""Of a picture, and of the report: an empty one is smaller."""


def rows(out: Path, table: str) -> int:
    """Number of rows of one Delta table, counted in its files."""
    # Not DeltaTable.to_pyarrow_dataset: its threads call into Python and may kill the process at its end.
    files = DeltaTable(str(out / "tables" / table)).file_uris()
    return sum(ParquetFile(unquote(file)).metadata.num_rows for file in files)


def wrong_sums(out: Path, summary: dict[str, Any]) -> Iterator[str]:
    """What does not add up between the fleet's count, the tables and the summary."""
    sent, received = summary["sent"], summary["received"]
    if not 0 < sent <= expected(summary["arguments"]):
        yield f"summary.json: {sent} readings sent, of at most {expected(summary['arguments']):g}"
    if sent != received or summary["lost"] or summary["repeated"] or summary["missing"]:
        counts = ", ".join(f"{name} {summary[name]}" for name in ("lost", "repeated", "missing"))
        yield f"summary.json: sent {sent}, received {received}, {counts}"
    for table in TABLES:
        # What the table's log says of its files, too.
        found = {summary["rows"][table], rows(out, table), DeltaTable(str(out / "tables" / table)).count()}
        if len(found) > 1:
            yield f"tables/{table}: summary.json, files and log say {sorted(found)} rows"
    if rows(out, "readings") != sent:
        yield f"tables/readings: {rows(out, 'readings')} rows for {sent} readings sent"


def expected(arguments: dict[str, Any]) -> float:
    """The most readings that these arguments can make; traces have as many as they have."""
    if "replay" in arguments:
        return math.inf
    return float(arguments["devices"] * arguments["seconds"] * arguments["rate"])


def wrong_times(summary: dict[str, Any]) -> Iterator[str]:
    """Phases that took no time, or that nobody has measured."""
    for phase in PHASES:
        if summary["seconds"].get(phase, -1) < 0:
            yield f"summary.json: no seconds of the phase {phase}"


def wrong_pictures(out: Path) -> Iterator[str]:
    """Pictures that are not PNGs of a useful size, and a report that does not carry them."""
    for name in PICTURES:
        head = (out / name).read_bytes()[:24]
        width, height = struct.unpack(">II", head[16:24]) if head.startswith(b"\x89PNG") else (0, 0)
        if width < 600 or height < 300:
            yield f"{name}: not a picture of a useful size ({width} x {height})"
    for name in (*PICTURES, "report.html"):
        size_bytes = (out / name).stat().st_size
        if size_bytes <= SIZE_BYTES_MIN:
            yield f"{name}: {size_bytes} bytes only"
    report = (out / "report.html").read_text()
    if report.count("data:image/png;base64,") < len(PICTURES) or "http-equiv" in report:
        yield "report.html: does not carry its pictures"


def main(out: Path) -> int:
    """Prints what is wrong, or one line that all holds."""
    summary = json.loads((out / "summary.json").read_text())
    problems = [*wrong_sums(out, summary), *wrong_times(summary), *wrong_pictures(out)]
    for problem in problems:
        print(f"verify: {problem}", file=sys.stderr)
    if not problems:
        print(f"verify: {out}: {summary['sent']} readings sent, each once in the tables; pictures and report are there")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
