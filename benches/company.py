"""How much of this machine others have while something is measured."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

_BUSY = (0, 1, 2, 5, 6, 7)
"""Fields of the first line of `/proc/stat` that are work: user, nice, system, interrupts twice, stolen."""


class Company:
    """From its beginning on: cores that processes had which are neither this one nor children it has waited for."""

    def __init__(self) -> None:
        self._all_s, self._own_s, self._began = _all_s(), _own_s(), time.monotonic()

    def cores(self) -> float:
        """On average."""
        others_s = (_all_s() - self._all_s) - (_own_s() - self._own_s)
        return max(0.0, others_s / (time.monotonic() - self._began))


def _all_s() -> float:
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(fields[n]) for n in _BUSY) / os.sysconf("SC_CLK_TCK")


def _own_s() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
