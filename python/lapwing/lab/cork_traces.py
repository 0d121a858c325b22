"""Whether files are those of the public Cork dataset: known by what is in them, not by their names or columns.

Anybody's drive test may have the same columns; a report made from it must not name others as its source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from lapwing.lab.traces import Trace

CREDIT = (
    "D. Raca, D. Leahy, C. J. Sreenan, J. J. Quinlan: Beyond Throughput, The Next Generation: a 5G Dataset "
    "with Channel and Context Metrics. ACM MMSys 2020 (github.com/uccmisl/5Gdataset, GPL-3.0)"
)
"""Source of the traces, to be named wherever a result made from them is shown."""

_DIGESTS = Path(__file__).with_name("cork_traces.sha256")


def credit_of(traces: Sequence[Trace]) -> str:
    """Whom a report made from ``traces`` names; empty where none of them is of the dataset."""
    theirs = sum(_digest(trace) in _known() for trace in traces)
    if not theirs:
        return ""
    return CREDIT if theirs == len(traces) else f"{theirs} of {len(traces)} files: {CREDIT}"


@cache
def _known() -> frozenset[str]:
    return frozenset(_DIGESTS.read_text(encoding="ascii").split())


def _digest(trace: Trace) -> str:
    """Of the rows, however the lines end: git and spreadsheets change that."""
    found = hashlib.sha256()
    with trace.open() as file:
        for line in file:
            found.update(line.rstrip(b"\r\n") + b"\n")
    return found.hexdigest()
