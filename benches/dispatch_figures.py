"""`make bench-dispatch`: the whole dispatch experiment, its pictures, and what the design asks of it.

    make bench-dispatch                                        about three hours; peers that are on the PATH
    make bench-dispatch BENCH_DISPATCH="--only mild --seeds 3" some of it
    make bench-dispatch BENCH_DISPATCH="--peer 'mochi=mochi-peer {host}:{port}'"

Runs go to out/dispatch, with their traces; the folder given by --out gets results, pictures and a page for each part,
and figures.md, which has all parts that were ever measured there. What is missed is printed as missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benches import machine
from benches.dispatch_parts import PARTS, Bound, Part

SCRATCH = Path("out", "dispatch")
FIRST = "lef"
LEAVES_S = 15.0


def main() -> int:
    """Command line."""
    options = _options()
    print(machine.describe(), flush=True)
    for part in PARTS:
        if options.only and part.name not in options.only:
            continue
        begun = datetime.now(UTC)
        result = _run(part, options)
        _publish(part, options.out)
        page = "\n".join([*_heading(part, result, begun), *_table(result), "", *_verdicts(part, result), ""])
        (options.out / f"{part.name}.md").write_text(page)
        print(page)
    pages = [options.out / f"{part.name}.md" for part in PARTS]
    texts = [page.read_text() for page in pages if page.exists()]
    (options.out / "figures.md").write_text("\n".join(["# Dispatch: figures", "", *texts]))
    return 0


def _heading(part: Part, result: dict[str, Any], begun: datetime) -> list[str]:
    """The title of a part's section, and when, where and how it was measured."""
    plan = result["plan"]
    how = f"{plan['seeds']} seeds of {plan['seconds']:g} s, links: {plan['link']}"
    how += f"; times from when a message was {plan.get('latency_from', 'sent')}"
    return [f"## {part.name}", "", f"{begun:%Y-%m-%d %H:%M} UTC, {machine.describe()}; {how}.", ""]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benches.dispatch_figures", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for results and pictures")
    parser.add_argument("--only", action="append", choices=[part.name for part in PARTS], help="this part; repeatable")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, help="of each run, in place of the part's own")
    parser.add_argument("--quick", action="store_true", help="one seed of 10 s: shapes, not figures")
    parser.add_argument("--peer", action="append", default=[], help="NAME or NAME=COMMAND, besides those on the PATH")
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.seconds = 1, options.seconds or 10.0
    return options


def _run(part: Part, options: argparse.Namespace) -> dict[str, Any]:
    """Runs one part; gives its result."""
    command = [sys.executable, "-m", "lapwing", "lab", "run", "dispatch", "--scenario", part.scenario]
    command += ["--policies", ",".join(part.policies), "--loads", ",".join(map(str, part.loads))]
    command += ["--seeds", str(options.seeds), "--seconds", str(options.seconds or part.seconds)]
    command += ["--drain", str(part.drain_s), "--out", str(SCRATCH / part.name)]
    for peer in [*_peers_found(), *options.peer] if part.has_peers else []:
        command += ["--peer", peer]
    print(f"\n== {part.name}", flush=True)
    _finish(command)
    document: dict[str, Any] = json.loads((SCRATCH / part.name / "result.json").read_text())
    return document


def _finish(command: Sequence[str]) -> None:
    """Runs ``command`` to its end, even when we are interrupted: it has processes of its own to end."""
    process = subprocess.Popen(command)
    try:
        status = process.wait()
    except KeyboardInterrupt:
        # Ctrl-C at a terminal has reached it, too, and a second word would disturb its leaving.
        try:
            process.wait(timeout=LEAVES_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
        raise
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {status}")


def _peers_found() -> list[str]:
    path = f"/usr/sbin:{os.environ['PATH']}"
    return [name for name in ("mosquitto", "rumqttd") if shutil.which(name, path=path)]


def _publish(part: Part, out: Path) -> None:
    """Copies result and pictures of a part."""
    out.mkdir(parents=True, exist_ok=True)
    for file in (SCRATCH / part.name).glob("*.*"):
        if file.suffix in (".json", ".png"):
            shutil.copy(file, out / f"{part.name}-{file.name}" if file.suffix == ".json" else out / file.name)


def _table(result: dict[str, Any]) -> list[str]:
    """The rows as Markdown, each figure with its interval."""
    lines = ["| load | policy | mean ms | p50 ms | p99 ms | p99.9 ms | critical missed | repeated | not done |"]
    lines.append("|---" * 9 + "|")
    for row in result["rows"]:
        times = [_cell(row, name, 1, "") for name in ("mean_ms", "p50_ms", "p99_ms", "p999_ms")]
        shares = [_cell(row, name, 100, " %") for name in ("missed_share", "duplicates_share")]
        cells = [f"{row['load']:.0%}", row["policy"], *times, *shares, str(row["unfinished"])]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _cell(row: dict[str, Any], name: str, scale: float, unit: str) -> str:
    low, high = row[f"{name}_interval"]
    return f"{_number(row[name] * scale)}{unit} ({_number(low * scale)}-{_number(high * scale)})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _verdicts(part: Part, result: dict[str, Any]) -> list[str]:
    """What the design asks, and whether it was reached."""
    lines = ["| LEF against | load | must reach | measured | |", "|---|---|---|---|---|"]
    for bound in part.bounds:
        for load in bound.loads or part.loads:
            found = _found(bound, load, result)
            if found is None:
                continue
            value, (low, high) = found
            reached = "reached" if value <= bound.most else "missed"
            name = f"{bound.figure} <= {bound.most:g}" + (" x" if bound.over else "")
            cells = [bound.over or "-", f"{load:.0%}", name, f"{value:.3g} ({low:.3g}-{high:.3g})", reached]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _found(bound: Bound, load: float, result: dict[str, Any]) -> tuple[float, Sequence[float]] | None:
    """The figure or ratio that a bound speaks of; None: there is none, as where the other missed nothing."""
    for row in result["ratios"] if bound.over else result["rows"]:
        who = row.get("over") == bound.over if bound.over else row["policy"] == FIRST
        if who and row["load"] == load and bound.figure in row:
            return row[bound.figure], row[f"{bound.figure}_interval"]
    return None


if __name__ == "__main__":
    sys.exit(main())
