"""A job's folders: writable, and held by one job at a time."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lapwing.pipeline.errors import FolderError, TableError
from lapwing.pipeline.only_files import check_only_files

LOG = logging.getLogger("lapwing.pipeline")
_LOCK = ".lapwing-job"
_ENDING_S = 60.0
"""How long a killed job's Spark may take to end: it stops what runs on the cluster first."""
_MAINTENANCE_S = 300.0
"""How long a job that begins waits for maintenance, which holds the folder while it writes a job's memory anew."""
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
            TableError: Another job is at work there. One that was killed is waited for, and so is maintenance.
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
        try:
            _lock(file, out)
        except BaseException:
            file.close()
            raise
        return cls._named(out, file, str(os.getpid()))

    @classmethod
    def tried(cls, out: Path, work: str) -> JobFolder | None:
        """Takes hold of ``out`` for ``work``, which a job that begins is told; None where a job is at work there.

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
        if not _is_taken(file):
            file.close()
            return None
        return cls._named(out, file, f"{os.getpid()} {work}")

    @classmethod
    def _named(cls, out: Path, file: IO[str], holder: str) -> JobFolder:
        """The folder whose lock is ours; its file names who has it: a process, and what it does if it is no job."""
        file.truncate(0)
        file.write(holder)
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


def _lock(file: IO[str], out: Path) -> None:
    """Takes the lock; waits for maintenance, and for what a job that is gone had started and has not ended yet.

    Raises:
        TableError: Another job is at work there, or maintenance for too long.
    """
    begun, told = time.monotonic(), ""
    while not _is_taken(file):
        process, work = _holder(file)
        waited_s = time.monotonic() - begun
        if work and waited_s > _MAINTENANCE_S:
            raise TableError(f"{work} is at work here", where=str(out), remedy="start the job when that has ended")
        if not work and (waited_s > _ENDING_S or _is_there(process)):
            raise TableError("another job writes here", where=str(out), remedy="stop it, or give another --out")
        if work != told:
            told = work
            LOG.warning("%s is at work in %s: the job begins when that has ended", work, out)
        time.sleep(_POLL_S)


def _is_taken(file: IO[str]) -> bool:
    """Whether the lock is ours now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _holder(file: IO[str]) -> tuple[str, str]:
    """The process that the lock names, and what it does: empty for a job. Both are empty while it is being named."""
    file.seek(0)
    process, _, work = file.read().partition(" ")
    return process, work


def _is_there(process: str) -> bool:
    """Whether that is a process of this machine."""
    return process.isdigit() and Path(f"/proc/{process}").exists()
