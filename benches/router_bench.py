"""The filter tree with one filter and with a million: the Rust benchmark, and its two targets."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from benches.table import verdict

ROOT = Path(__file__).parent.parent
MATCH_NS_MAX = 2_000
GROWTH_MAX = 1.25
"""What subscribing costs with a million filters against the first ten thousand, times the same of a plain hash map in
the same run. Flat is what a hash map is: the first ten thousand fit into a cache, the others cost its misses."""


def _figure(printed: str, line: str) -> float:
    """The nanoseconds in the line that begins like this."""
    found = re.search(rf"^{re.escape(line)}.*?([\d.]+) ns$", printed, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"the benchmark printed no line {line!r}:\n{printed}")
    return float(found[1])


def _growth(printed: str, name: str) -> float:
    """The last ten thousand of a million against the first ten thousand."""
    first, last = (_figure(printed, f"{name}, the last 10000 of {size} ") for size in (10_000, 1_000_000))
    return last / first


def run(*, quick: bool) -> None:
    """Prints what the benchmark prints, then whether the targets are reached; it has one length."""
    del quick
    done = subprocess.run(
        ["cargo", "bench", "--quiet", "-p", "lapwing-router", "--bench", "router"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    print("\n" + "\n".join(f"  {line}" for line in done.stdout.splitlines()))
    verdict(
        "match of one topic in 1M filters, 10 matches, ns",
        _figure(done.stdout, "match, 1M filters, 100,000 topics"),
        MATCH_NS_MAX,
        at_most=True,
    )
    tree, table = (_growth(done.stdout, name) for name in ("subscribe", "hash map of the same filters"))
    verdict("growth of subscribing to 1M, times a hash map's", tree / table, GROWTH_MAX, at_most=True)
