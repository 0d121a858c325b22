"""The filter tree with one filter and with a million: the Rust benchmark, and its two targets."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from benches.table import verdict

ROOT = Path(__file__).parent.parent
MATCH_NS_MAX = 2_000
FLAT_RATIO_MAX = 4.0
"""The last ten thousand of a million subscriptions against the first: a tree that no cache holds costs some misses.
A cost that grew with the number would show as a hundred."""


def _figure(printed: str, line: str) -> float:
    """The nanoseconds in the line that begins like this."""
    found = re.search(rf"^{re.escape(line)}.*?([\d.]+) ns$", printed, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"the benchmark printed no line {line!r}:\n{printed}")
    return float(found[1])


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
    first, last = (_figure(done.stdout, f"subscribe, {part} 10,000") for part in ("first", "last"))
    verdict("subscribing the last 10,000 of 1M, times the first", last / first, FLAT_RATIO_MAX, at_most=True)
