"""Switches of `disk_faults.c`."""

from __future__ import annotations

from pathlib import Path


class FaultyDisk:
    """Switches faults of one broker's disk on and off.

    Attributes:
        variables: Environment of the broker.
    """

    def __init__(self, folder: Path, library: Path, data: Path) -> None:
        self.folder = folder
        self.variables = {
            "LD_PRELOAD": str(library),
            "LAPWING_FAULTS": str(folder),
            "LAPWING_FAULTS_OF": str(data),
        }

    def begin(self, fault: str, number: int | None = None) -> None:
        """See `disk_faults.c`; `number` is what some of them need to know."""
        (self.folder / fault).write_text("" if number is None else str(number))

    def end(self, fault: str) -> None:
        (self.folder / fault).unlink()
