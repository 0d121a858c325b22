"""A job's folders: writable, and held by one job at a time."""

from __future__ import annotations

import fcntl
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lapwing.pipeline.errors import FolderError, TableError
from lapwing.pipeline.only_files import check_only_files

_LOCK = ".lapwing-job"
_ENDING_S = 60.0
"""How long a killed job's Spark may take to end: it stops what runs on the cluster first."""
_POLL_S = 0.1


@dataclass
class JobFolder:
    """Holds ``out`` for one job: Delta tables here have one writer.

    The system frees it when the last process has ended that has the descriptor: where Spark's JVM has it too, nothing
    of a job that was killed is still being committed when the next one looks where the tables stand.
    """

    out: Path
    _file: IO[str] | None

    @classmethod
    def held(cls, out: Path, checkpoint: Path) -> JobFolder:
        """Makes both folders and takes hold of ``out``.

        Raises:
            FolderError: One cannot be written, or has something else where a file belongs.
            TableError: Another job is at work there. One that was killed is waited for.
        """
        for flag, folder in (("--out", out), ("--checkpoint", checkpoint)):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                probe = folder / ".lapwing-probe"
                probe.touch()
                probe.unlink()
            except OSError as error:
                raise FolderError(
                    f"{flag} cannot be written: {error.strerror}",
                    where=str(folder),
                    remedy=f"give a {flag} that this user may write",
                ) from None
        check_only_files(out, checkpoint)
        file = (out / _LOCK).open("a+")
        if not _locked(file):
            file.close()
            raise TableError("another job writes here", where=str(out), remedy="stop it, or give another --out")
        return cls._named(out, file)

    @classmethod
    def tried(cls, out: Path) -> JobFolder | None:
        """Takes hold of ``out``; None where a job is at work there.

        Raises:
            FolderError: It cannot be written, or has something else where a file belongs.
        """
        check_only_files(out)
        try:
            file = (out / _LOCK).open("a+")
        except OSError as error:
            raise FolderError(
                f"--out cannot be written: {error.strerror}",
                where=str(out),
                remedy="give an --out that this user may write",
            ) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return cls._named(out, file)

    @classmethod
    def _named(cls, out: Path, file: IO[str]) -> JobFolder:
        """The folder whose lock is ours; its file names who has it."""
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        return cls(out, file)

    def fileno(self) -> int:
        """The descriptor that holds the folder."""
        assert self._file is not None  # not after `release`
        return self._file.fileno()

    def release(self) -> None:
        """Lets go, in whatever process has the descriptor; no harm if done before."""
        if self._file:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._file.close()
            self._file = None


def check_apart(out: Path, checkpoint: Path) -> None:
    """A checkpoint among the tables is none for long: whoever cleans a table up deletes what is not of it.

    Raises:
        FolderError: it lies there.
    """
    if checkpoint.resolve().is_relative_to((out / "tables").resolve()):
        raise FolderError(
            "--checkpoint lies among the tables, where it would be cleaned up",
            where=str(checkpoint),
            remedy="give a folder beside them, or leave it out",
        )


def _locked(file: IO[str]) -> bool:
    """Takes the lock; waits only where the job that had it is gone, and not yet all that it had started."""
    deadline = time.monotonic() + _ENDING_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if _at_work(file) or time.monotonic() > deadline:
                return False
        else:
            return True
        time.sleep(_POLL_S)


def _at_work(file: IO[str]) -> bool:
    """Whether the job that the lock names is a process of this machine, or names none yet."""
    file.seek(0)
    name = file.read()
    return not name.isdigit() or Path(f"/proc/{name}").exists()
