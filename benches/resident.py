"""How much memory a process has."""

from __future__ import annotations

import os
from pathlib import Path


def resident_bytes(pid: int) -> int:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def resident_mib(pid: int) -> float:
    """The same in MiB."""
    return resident_bytes(pid) / 2**20
