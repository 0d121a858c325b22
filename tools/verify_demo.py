"""Verifies what `lapwing demo --out DIR` left: the sums, the tables' rows, the pictures, the report. Used by CI.

    python tools/verify_demo.py out/demo

Exit status 0 when all holds; 1 with one line for each thing that does not.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from deltalake import DeltaTable
from pyarrow.parquet import ParquetFile

TABLES = ("readings", "quarantine", "quality", "latency", "coverage")
PICTURES = ("coverage.png", "latency.png", "loss.png")


def rows(out: Path, table: str) -> int:
    """Number of rows of one Delta table, counted in its files."""
    # Not DeltaTable.to_pyarrow_dataset: its threads call into Python and may kill the process at its end.
    files = DeltaTable(str(out / "tables" / table)).file_uris()
    return sum(ParquetFile(file).metadata.num_rows for file in files)


def wrong_sums(out: Path, summary: dict[str, object]) -> Iterator[str]:
    """What does not add up between the fleet's count, the tables and the summary."""
    sent, received = summary["sent"], summary["received"]
    if not sent:
        yield "summary.json: nothing was sent"
    if sent != received or summary["lost"] or summary["repeated"]:
        yield f"summary.json: sent {sent}, received {received}, lost {summary['lost']}, repeated {summary['repeated']}"
    for table in TABLES:
        count = rows(out, table)
        if count != summary["rows"][table]:  # type: ignore[index]
            yield f"tables/{table}: {count} rows, summary.json says {summary['rows'][table]}"  # type: ignore[index]
    if rows(out, "readings") != sent:
        yield f"tables/readings: {rows(out, 'readings')} rows for {sent} readings sent"


def wrong_pictures(out: Path) -> Iterator[str]:
    """Pictures that are not PNGs of a useful size, and a report that does not carry them."""
    for name in PICTURES:
        head = (out / name).read_bytes()[:24]
        width, height = struct.unpack(">II", head[16:24]) if head.startswith(b"\x89PNG") else (0, 0)
        if width < 600 or height < 300:
            yield f"{name}: not a picture of a useful size ({width} x {height})"
    report = (out / "report.html").read_text()
    if report.count("data:image/png;base64,") < len(PICTURES) or "http-equiv" in report:
        yield "report.html: does not carry its pictures"


def main(out: Path) -> int:
    """Prints what is wrong, or one line that all holds."""
    summary = json.loads((out / "summary.json").read_text())
    problems = [*wrong_sums(out, summary), *wrong_pictures(out)]
    for problem in problems:
        print(f"verify: {problem}", file=sys.stderr)
    if not problems:
        print(f"verify: {out}: {summary['sent']} readings sent, each once in the tables; pictures and report are there")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
