"""A wall clock that a test sets, for one broker: see `wall_clock.c`."""

from __future__ import annotations

import time
from pathlib import Path

DEADLINE_S = 30.0


class WallClock:
    """Sets the wall clock of brokers that are started with its `variables`.

    Attributes:
        variables: Environment of the broker.
        fast_s: By how many seconds it is before the true time; below 0: behind it.
    """

    def __init__(self, file: Path, library: Path) -> None:
        self._file = file
        self.variables = {"LD_PRELOAD": str(library), "LAPWING_FAULTS_CLOCK": str(file)}
        self.fast_s = 0
        self.set(0)

    def set(self, fast_s: int) -> None:
        """Sets it, whole at once."""
        self.fast_s = fast_s
        draft = self._file.with_suffix(".tmp")
        draft.write_text(str(fast_s))
        draft.replace(self._file)

    def now_s(self) -> float:
        """What it shows, since the epoch."""
        return time.time() + self.fast_s

    def wait_until_noted(self, data: Path) -> None:
        """Until the data folder of a running broker has what the wall clock shows since it was set."""
        deadline = time.monotonic() + DEADLINE_S
        noted_s = None
        while time.monotonic() < deadline:
            if (file := data / "clock").exists():
                noted_s = int(file.read_text().split()[-1]) / 1000
                # Less than the least that tests set it by, and more than a mark is old.
                if abs(noted_s - self.now_s()) < 120:
                    return
            time.sleep(0.01)
        raise AssertionError(f"the clock shows {self.now_s():.0f}, and noted is {noted_s}")
