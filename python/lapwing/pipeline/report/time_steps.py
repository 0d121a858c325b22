"""Cutting a span of time into steps that a picture can show, and axes that name the times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from numpy.typing import NDArray

STEPS_MAX = 120
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400)
FINE_SPAN_S = 900
"""Runs shorter than this are shown by the second, from the readings; longer ones by the minute, from the
aggregates.
"""


@dataclass(frozen=True, slots=True)
class TimeSteps:
    """Consecutive steps of ``step_s`` seconds; ``start_us``: each step's start (since the epoch, UTC)."""

    step_s: int
    start_us: NDArray[np.int64]

    @staticmethod
    def over(first_us: int, last_us: int, finest_s: int = 1) -> TimeSteps:
        """Steps that hold both instants: the shortest that are no more than ``STEPS_MAX``."""
        span_s = max(1, (last_us - first_us) / 1e6)
        fitting = (step for step in _STEPS_S if step >= finest_s and span_s / step <= STEPS_MAX)
        step_s = next(fitting, int(span_s / STEPS_MAX) + 1)
        step_us = step_s * 1_000_000
        return TimeSteps(step_s, np.arange(first_us // step_us, last_us // step_us + 1) * step_us)

    def index(self, at_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """The step of each instant; instants must lie within."""
        index: NDArray[np.int64] = (at_us - self.start_us[0]) // (self.step_s * 1_000_000)
        return index

    def sums(self, at_us: NDArray[np.int64], amounts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Amounts added up by step."""
        summed = np.bincount(self.index(at_us), weights=amounts, minlength=len(self.start_us))
        return summed.astype(np.int64)

    @property
    def name(self) -> str:
        """``second``, ``10 seconds``, ``minute``, ..."""
        for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
            if self.step_s % size == 0:
                return unit if self.step_s == size else f"{self.step_s // size} {unit}s"
        raise AssertionError("a step is whole seconds")

    def days(self) -> NDArray[np.float64]:
        """The steps' starts in matplotlib's days: since the epoch."""
        days: NDArray[np.float64] = self.start_us / 86_400e6
        return days

    @property
    def width_days(self) -> float:
        """A step's length in matplotlib's days."""
        return self.step_s / 86_400


def time_axis(axes: Axes, steps: TimeSteps) -> None:
    """Names the times along the x axis, in UTC; a lone step gets room around it."""
    days = steps.days()
    margin = steps.width_days * max(0.5, (6 - len(days)) / 2)
    axes.set_xlim(days[0] - margin, days[-1] + steps.width_days + margin)
    locator = AutoDateLocator(minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.xaxis.get_offset_text().set_color(axes.xaxis.label.get_color())
