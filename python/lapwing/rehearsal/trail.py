"""Whether the audit trail can be gone on with, as the node opens it (``crates/node/src/audit``): nothing is written."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.errors import BrokerError, ConfigError, LapwingError

if TYPE_CHECKING:
    from lapwing.config import Config

_TAIL_BYTES = 64 << 10
_HASH = b',"hash":"'
_TAKEN = "another broker writes it"


def trail_faults(config: Config) -> Iterator[LapwingError]:
    """Of ``audit.file``: its folder, what lies there, who writes it, and its last line."""
    file = config.audit.file
    if file is None:
        return
    folder = file.absolute().parent
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        remedy = "name a file in a folder that exists and that the broker may write"
        yield ConfigError("audit.file: its folder cannot be written", where=str(file), remedy=remedy)
    elif why := _refusal(file, is_chained=config.audit.chain):
        kind = BrokerError if why == _TAKEN else ConfigError
        yield kind(f"audit.file: {why}", where=str(file), remedy="name another file, or move it away")


def _refusal(file: Path, *, is_chained: bool) -> str:
    """Why it cannot be gone on with; empty: it can, or is not there."""
    try:
        opened = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return "it is a symbolic link, which is not followed" if error.errno == errno.ELOOP else str(error.strerror)
    with os.fdopen(opened, "rb") as trail:
        found = os.fstat(trail.fileno())
        if not stat.S_ISREG(found.st_mode):
            return "it is no file"
        if os.geteuid() not in (0, found.st_uid):
            return "it is another account's"
        try:
            fcntl.flock(trail, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _TAKEN
        trail.seek(max(0, found.st_size - _TAIL_BYTES))
        # Half a line, which a crash has left, is cut off at the start.
        whole = trail.read().rpartition(b"\n")[0].rpartition(b"\n")[2]
    return _broken(whole, is_chained=is_chained) if whole else ""


def _broken(line: bytes, *, is_chained: bool) -> str:
    """What is wrong with the last line; empty: nothing."""
    try:
        fields = json.loads(line)
    except ValueError:
        return "its last line is no JSON"
    fields = fields if isinstance(fields, dict) else {}
    if type(fields.get("seq")) is not int or fields["seq"] < 0:
        return 'its last line has no number "seq"'
    said = fields.get("hash")
    if not is_chained or not isinstance(said, str):
        return ""
    hashed, mark, _ = line.rpartition(_HASH)
    if not mark:
        return "its last line does not end with its hash"
    is_same = hashlib.sha256(hashed).hexdigest() == said
    return "" if is_same else "its last line has another hash than it says: it was changed"
