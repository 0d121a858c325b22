"""The pipeline's own errors, and how an error comes back out of Spark.

An error raised in a Spark worker reaches the driver as a Java stack trace around a Python one. `sealed` puts a
marked line into the message; `unsealed` finds it again and gives back the error that was raised.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

from lapwing import errors
from lapwing.errors import LapwingError, StreamError

_LOG = logging.getLogger(__name__)
_ERROR_LINE = re.compile(r"(?!org\.|py4j\.|pyspark\.|Caused by)[\w.]+(Error|Exception|Invalid\w*): \S")
_NO_SPACE = "No space left on device"
_SEAL = re.compile(r"lapwing-error:(\{.*?\}):end")


class SparkUnusableError(LapwingError):
    """No Java, or a PySpark of another version."""

    exit_code = 2


class StreamRecreatedError(StreamError):
    """The stream at that address is not the one that this checkpoint belongs to."""


class TableError(LapwingError):
    """A table cannot be created, read or written."""


def unusable_table(name: str, folder: Path, what: str, remedy: str) -> TableError:
    """The error for a table of the record ``name`` at ``folder``."""
    return TableError(f"table {name} cannot be used: {what}", where=str(folder), remedy=remedy)


class FolderError(TableError):
    """A folder that was given cannot be written."""

    exit_code = 2


class ConflictError(TableError):
    """Somebody else has changed the table meanwhile: what was to be committed has to be made again."""


class JobError(LapwingError):
    """The job failed for a reason that Spark tells."""


class SealedError(Exception):
    """Carries another error's text through Spark; see `sealed`."""


def sealed(error: LapwingError) -> SealedError:
    """``error``, so that it can be found in whatever Spark makes of it."""
    parts = {"kind": type(error).__name__, "what": error.what, "where": error.where, "remedy": error.remedy}
    return SealedError(f"{error} lapwing-error:{json.dumps(parts)}:end")


def unsealed(error: BaseException, *, where: str) -> LapwingError:
    """The error that was raised in a worker; a `JobError` with Spark's first line where it was none of ours."""
    if isinstance(error, LapwingError):
        return error
    text = str(error)
    for found in _SEAL.finditer(text):
        parts = json.loads(found[1])
        kind = globals().get(parts.pop("kind")) or JobError
        made: LapwingError = kind(parts.pop("what"), **parts)
        return made
    _LOG.debug("Spark says: %s", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if _ERROR_LINE.match(line)]
    what = named[-1] if named else (lines[0] if lines else type(error).__name__)
    remedy = "Spark's log says more; run it again, it goes on where it was"
    if _NO_SPACE in text:
        remedy = "make room, for the tables and for Spark (spark.local.dir); run it again, it goes on where it was"
    return JobError(what[:300], where=where, remedy=remedy)


globals().update(
    {name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, LapwingError)}
)
