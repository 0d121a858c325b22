"""What the job ``deadlines`` tells about its batches, and about itself at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lapwing.pipeline.jobs.progress import with_batch


@dataclass(frozen=True, slots=True)
class LateProgress:
    """One micro-batch, done."""

    batch: int
    rows: int
    """Messages in the batch that were not in the tables yet."""
    misses: int
    dead_letters: int
    quarantined: int
    repeated: int
    """Messages that had come before, by their ids: a bridge has carried them twice."""
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
        parts = [f"{self.misses:,} misses", f"{self.dead_letters:,} dead letters"]
        counts = {"quarantined": self.quarantined, "repeated": self.repeated, "trimmed": self.trimmed}
        return ", ".join(parts + [f"{count:,} {name}" for name, count in counts.items() if count])


@dataclass(frozen=True, slots=True)
class LateResult:
    """All batches of one run together."""

    batches: int = 0
    rows: int = 0
    misses: int = 0
    dead_letters: int = 0
    quarantined: int = 0
    repeated: int = 0
    trimmed: int = 0
    seconds: float = 0.0
    """From the query's start to the end of the last batch."""
    seconds_by_phase: Mapping[str, float] = field(default_factory=dict)
    rows_in_tables: Mapping[str, int] = field(default_factory=dict)
    pictures: tuple[Path, ...] = ()

    def plus(self, batch: LateProgress) -> LateResult:
        """With one batch more."""
        return with_batch(self, batch, _SUMMED)


_SUMMED = ("rows", "misses", "dead_letters", "quarantined", "repeated", "trimmed")
