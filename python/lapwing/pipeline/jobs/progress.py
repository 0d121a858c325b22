"""What a job tells about its batches, and about itself at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """One micro-batch, done."""

    batch: int
    rows: int
    """Messages in the batch that were not in the tables yet."""
    readings: int
    """First copies of valid readings."""
    repeated: int
    quarantined: int
    lost: int
    """Gaps less late fills; may be negative in a batch."""
    trimmed: int
    """Messages that retention deleted before they were read (``on_trimmed=skip``)."""
    seconds: float
    seconds_by_phase: Mapping[str, float]
    rows_written: Mapping[str, int]
    """Rows committed per table; those of an aggregate replace what stood there."""
    done: Mapping[int, int]
    """Per stream partition the offset up to which every table is done."""


ProgressCallback = Callable[[BatchProgress], None]


@dataclass(frozen=True, slots=True)
class JobResult:
    """All batches of one run together."""

    batches: int
    rows: int
    readings: int
    repeated: int
    quarantined: int
    lost: int
    trimmed: int
    seconds: float
    """From the first batch's start to the last one's end."""
    seconds_by_phase: Mapping[str, float]
    rows_in_tables: Mapping[str, int]
    pictures: tuple[Path, ...] = ()


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


def together(batches: list[BatchProgress], rows_in_tables: Mapping[str, int], seconds: float) -> JobResult:
    """The sum of ``batches``."""
    phases: dict[str, float] = {}
    for each in batches:
        for name, took in each.seconds_by_phase.items():
            phases[name] = phases.get(name, 0.0) + took
    return JobResult(
        batches=len(batches),
        rows=sum(each.rows for each in batches),
        readings=sum(each.readings for each in batches),
        repeated=sum(each.repeated for each in batches),
        quarantined=sum(each.quarantined for each in batches),
        lost=sum(each.lost for each in batches),
        trimmed=sum(each.trimmed for each in batches),
        seconds=seconds,
        seconds_by_phase=phases,
        rows_in_tables=rows_in_tables,
    )
