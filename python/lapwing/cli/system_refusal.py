"""What the system says of a path that somebody has given, as an error with a remedy."""

from __future__ import annotations

import errno
import os

from lapwing.errors import ConfigError, LapwingError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NO_PATH = (
    errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EROFS,
)  # fmt: skip


def _has_folder() -> bool:
    """Whether the working directory is there."""
    try:
        return bool(os.getcwd())
    except FileNotFoundError:
        return False


def about_a_path(error: OSError) -> LapwingError | None:
    """The error for ``error`` where it is about a path, or about room on the disk; None: it is about something else."""
    where = "" if error.filename is None else str(error.filename)
    what = error.strerror or str(error)
    if isinstance(error, FileNotFoundError) and not where and not _has_folder():
        return ConfigError("the folder that this was started in is gone", remedy="cd to one that there is")
    if error.errno in _NO_ROOM:
        return LapwingError(what, where=where, remedy="make room, and run it again")
    return ConfigError(what, where=where, remedy="give another path") if where and error.errno in _NO_PATH else None
