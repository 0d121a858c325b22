"""Rows of traces that cannot be sent: how many in which file, and the first of them in full.

A file of other people may have nothing else, and be larger than memory: what is kept is bounded, what is
counted is not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lapwing.text import one_line

KEPT_MAX = 1000
"""Rows kept, each with its file, line and problem; the others are counted."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A row that cannot be sent: where it stands, and what is wrong with it. Lines count from 1, the
    header's.
    """

    file: str
    line: int
    problem: str

    def __str__(self) -> str:
        return one_line(f"{self.file}:{self.line}: {self.problem}")


class MalformedRows:
    """Those of some traces.

    Args:
        kept_max: See `KEPT_MAX`.

    Attributes:
        first: The first ``kept_max``, in the order in which they were found.
        by_file: How many each file has; a file without any is not there.
    """

    def __init__(self, kept_max: int = KEPT_MAX) -> None:
        self._kept_max = kept_max
        self.first: list[Malformed] = []
        self.by_file: Counter[str] = Counter()

    def add(self, row: Malformed) -> None:
        """Counts one, and keeps it while there is room."""
        self.by_file[row.file] += 1
        if len(self.first) < self._kept_max:
            self.first.append(row)

    def __len__(self) -> int:
        """How many there are, those that are not kept too."""
        return self.by_file.total()
