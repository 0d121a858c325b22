"""A job's folders: writable, and held by one job at a time."""

from __future__ import annotations

import fcntl
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lapwing.pipeline.errors import TableError

_LOCK = ".lapwing-job"


@dataclass
class JobFolder:
    """Holds ``out`` for one process: Delta tables here have one writer. The system frees it when that dies."""

    out: Path
    _file: IO[str] | None

    @classmethod
    def held(cls, out: Path, checkpoint: Path) -> JobFolder:
        """Makes both folders and takes hold of ``out``.

        Raises:
            TableError: One cannot be written, or another job is at work there.
        """
        for flag, folder in (("--out", out), ("--checkpoint", checkpoint)):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                probe = folder / ".lapwing-probe"
                probe.touch()
                probe.unlink()
            except OSError as error:
                raise TableError(
                    f"{flag} cannot be written: {error.strerror}",
                    where=str(folder),
                    remedy=f"give a {flag} that this user may write",
                ) from None
        file = (out / _LOCK).open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise TableError(
                "another job writes here", where=str(out), remedy="stop it, or give another --out"
            ) from None
        return cls(out, file)

    def release(self) -> None:
        """Lets go; no harm if done before."""
        if self._file:
            self._file.close()
            self._file = None
