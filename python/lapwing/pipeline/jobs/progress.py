"""What a job tells about its batches, and about itself at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """One micro-batch, done."""

    batch: int
    rows: int
    """Messages in the batch that were not in the tables yet."""
    readings: int
    """First copies of valid readings."""
    repeated: int
    """Messages that had come before: readings, and what broke the contract, by its message id."""
    quarantined: int
    lost: int
    """Gaps less late fills: readings that have not arrived; may be negative in a batch."""
    before_start: int
    """Readings below the first serial of a device that was met, where the job began later, or was overtaken."""
    trimmed: int
    """Messages that retention deleted before they were read (``on_trimmed=skip``)."""
    seconds: float
    seconds_by_phase: Mapping[str, float]
    rows_written: Mapping[str, int]
    """Rows committed per table; those of an aggregate replace what stood there."""
    done: Mapping[int, int]
    """Per stream partition the offset up to which every table is done."""

    def told(self) -> str:
        """For people: what it brought."""
        counts = {
            "repeated": self.repeated,
            "lost": self.lost,
            "quarantined": self.quarantined,
            "before the start": self.before_start,
            "trimmed": self.trimmed,
        }
        return ", ".join([f"{self.readings:,} readings", *(f"{n:,} {name}" for name, n in counts.items() if n)])


ProgressCallback = Callable[[BatchProgress], None]
_Result = TypeVar("_Result")


def with_batch(result: _Result, batch: Any, summed: Iterable[str]) -> _Result:
    """A run's ``result`` with one batch more; ``summed``: the fields that add up, of both."""
    so_far: Any = result
    phases = dict(so_far.seconds_by_phase)
    for name, took in batch.seconds_by_phase.items():
        phases[name] = phases.get(name, 0.0) + took
    counts = {name: getattr(so_far, name) + getattr(batch, name) for name in summed}
    added: _Result = replace(so_far, batches=so_far.batches + 1, seconds_by_phase=phases, **counts)
    return added


@dataclass(frozen=True, slots=True)
class JobResult:
    """All batches of one run together."""

    batches: int
    rows: int
    readings: int
    repeated: int
    quarantined: int
    lost: int
    before_start: int
    trimmed: int
    seconds: float
    """From the query's start to the end of the last batch."""
    seconds_by_phase: Mapping[str, float]
    rows_in_tables: Mapping[str, int]
    pictures: tuple[Path, ...] = ()

    def plus(self, batch: BatchProgress) -> JobResult:
        """With one batch more."""
        return with_batch(self, batch, _SUMMED)


_SUMMED = ("rows", "readings", "repeated", "quarantined", "lost", "before_start", "trimmed")
NOTHING_YET = JobResult(0, 0, 0, 0, 0, 0, 0, 0, 0.0, {}, {})
"""The result of a run without batches."""


@dataclass
class Phases:
    """Seconds per phase of a batch; phases that run side by side overlap."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds the time that the body takes to ``name``."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - begun
