"""What the deadlines picture shows: misses and dead letters over time and by who had them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lapwing.pipeline.report.tables import read
from lapwing.pipeline.report.time_steps import TimeSteps

WAITED = "(waiting)"
"""In place of a member: the message was late before anybody had it."""


@dataclass(frozen=True, slots=True)
class Series:
    """Counts per step by kind (a lane, a reason), and in all by row (group and member, group): the most first."""

    total: int
    by_kind: dict[str, NDArray[np.int64]]
    by_row: dict[str, int]


@dataclass(frozen=True, slots=True)
class DeadlineFacts:
    """Exact counts; ``late_ms_max`` is the worst miss, None without one."""

    steps: TimeSteps
    misses: Series
    dead_letters: Series
    late_ms_max: int | None


def deadline_facts(out: Path) -> DeadlineFacts | None:
    """Reads the tables; None when neither has rows.

    Raises:
        ReportError: a table cannot be read.
    """
    misses = read(out, "misses", ("minute", "group", "lane", "member", "missed", "late_ms_max"))
    letters = read(out, "dead_letters", ("minute", "group", "reason", "count"))
    if not misses.num_rows + letters.num_rows:
        return None
    at_us = np.concatenate([_instants(misses["minute"]), _instants(letters["minute"])])
    steps = TimeSteps.over(int(at_us.min()), int(at_us.max()), finest_s=60)
    who = [
        f"{group}: {member if member is not None else WAITED}"
        for group, member in zip(misses["group"].to_pylist(), misses["member"].to_pylist(), strict=True)
    ]
    return DeadlineFacts(
        steps,
        _series(misses, "missed", "lane", who, steps),
        _series(letters, "count", "reason", letters["group"].to_pylist(), steps),
        max(misses["late_ms_max"].to_pylist(), default=None),
    )


def _series(table: pa.Table, amount: str, kind: str, rows: list[str], steps: TimeSteps) -> Series:
    amounts = table[amount].to_numpy()
    kinds = np.array(table[kind].to_pylist(), dtype=object)
    at_us = _instants(table["minute"])
    by_row: dict[str, int] = {}
    for row, number in zip(rows, amounts.tolist(), strict=True):
        by_row[row] = by_row.get(row, 0) + number
    return Series(
        total=int(amounts.sum()),
        by_kind={name: steps.sums(at_us[kinds == name], amounts[kinds == name]) for name in sorted(set(kinds))},
        by_row=dict(sorted(by_row.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def _instants(column: pa.ChunkedArray) -> NDArray[np.int64]:
    instants: NDArray[np.int64] = column.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
    return instants
