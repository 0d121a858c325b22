"""`python -m tests.crash.matrix`: every fault, QoS and keeper, on Lapwing and on its peers; prints a table."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import cell as cells
from .cell import FAULTS, Cell, Figures
from .expected import broken
from .power import compile_library
from .subjects import Subject, subject

DISK_FAULTS = Path(__file__).parent.parent / "faults" / "disk_faults.c"
LEVELS = (0, 1, 2)
COLUMNS = ("fault", "kept by", "QoS", "sent", "acknowledged", "there", "missing", "repeated")
MORE_COLUMNS = ("meanwhile", "longest wait s", "resumed after s", "the broker")


def run_cells(
    of: Subject,
    faults: list[str],
    folder: Path,
    pace: float,
    levels: tuple[int, ...] = LEVELS,
    age_s: float = 0.0,
) -> Iterator[Figures]:
    """All cells of one broker at these `levels` of QoS, with a session `age_s` old; `pace` shortens times."""
    shim, power = compile_library(folder, DISK_FAULTS), compile_library(folder)
    for fault in faults:
        for kept_by in ("session", "stream") if of.has_streams else ("session",):
            for qos in levels:
                home = folder / f"{of.name}-{fault.replace(' ', '-')}-{kept_by}-{qos}"
                home.mkdir()
                yield Cell(of, fault, qos, kept_by, home, shim, power, pace, age_s).run()


def row(figures: Figures) -> list[str]:
    """A line of the table."""
    one = figures
    kept_by = one.kept_by if one.qos or one.kept_by == "stream" else "nobody"
    counts = [one.sent, one.acknowledged if one.qos else "-", one.there, one.missing if one.qos else "-", one.repeated]
    resumed = "-" if one.resumed_s is None else f"{one.resumed_s:.2f}"
    numbers = [str(number) for number in (one.qos, *counts, one.meanwhile)]
    return [one.fault, kept_by, *numbers, f"{one.longest_wait_s:.2f}", resumed, one.broker]


def table(found: list[Figures]) -> str:
    """Markdown, and readable as it is."""
    rows = [[*COLUMNS, *MORE_COLUMNS], *map(row, found)]
    widths = [max(len(line[at]) for line in rows) for at in range(len(rows[0]))]
    lines = [" | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in rows]
    lines.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" for line in lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.matrix", description=cells.__doc__)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME[=COMMAND]", help="mosquitto, or a command")
    parser.add_argument("--only-peers", action="store_true", help="Lapwing itself is left out")
    parser.add_argument("--fault", action="append", choices=FAULTS, help="only these; repeatable")
    parser.add_argument("--qos", action="append", type=int, choices=LEVELS, help="only these; repeatable")
    parser.add_argument("--age", type=float, default=0.0, metavar="SECONDS", help="of the session; default 0")
    parser.add_argument("--quick", action="store_true", help="a third of the time in each state")
    parser.add_argument("--json", action="store_true", help="one object a cell")
    return parser.parse_args()


def main() -> int:
    """Command line; 1 when a cell of Lapwing is not as it must be."""
    from benches import machine

    options = _arguments()
    subjects = [] if options.only_peers else [Subject("lapwing")]
    subjects += map(subject, options.peer)
    is_broken = False
    if not options.json:
        print(f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}; {machine.describe()}")
    for of in subjects:
        with tempfile.TemporaryDirectory(prefix="lapwing-matrix-") as folder:
            found = []
            faults, levels = options.fault or list(FAULTS), tuple(options.qos or LEVELS)
            for figures in run_cells(of, faults, Path(folder), 0.33 if options.quick else 1.0, levels, options.age):
                found.append(figures)
                if options.json:
                    print(json.dumps(figures.to_json()), flush=True)
            is_broken |= of.is_judged and any(map(broken, found))
            if not options.json:
                _print(of, found)
    return 1 if is_broken else 0


def _print(of: Subject, found: list[Figures]) -> None:
    print(f"\n{of.name}; its settings:\n\n{of.settings or ' '.join(of.command)}\n{table(found)}\n")
    for figures in found:
        remarks = broken(figures) if of.is_judged else [figures.died, *figures.notes]
        for remark in filter(None, remarks):
            print(f"{figures.fault}, {figures.kept_by}, QoS {figures.qos}: {remark}")


if __name__ == "__main__":
    sys.exit(main())
