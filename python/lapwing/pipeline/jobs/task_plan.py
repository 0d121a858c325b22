"""What a task of a batch is told by its driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """Where a table's files go, and whether in folders by day."""

    folder: str
    by_day: bool


@dataclass(frozen=True)
class TaskPlan:
    """What has been done already, and where to write."""

    folders: Mapping[str, Target]
    """Per table that tasks write files of, where those go."""
    seen: Sequence[str]
    """The files of ``seen``, as the batch before left it."""
    stands: Mapping[str, Mapping[int, int]]
    """Per table and stream partition the offset below which the table has everything already."""
