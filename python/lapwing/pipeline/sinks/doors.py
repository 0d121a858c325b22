"""Tables in folders whose paths delta-rs cannot spell: it gets a harmless path that leads there.

delta-rs 1.x resolves the links in a table's path, makes a URI of what it finds, and decodes that more than once; its
``object_store`` takes no control characters at all. It does so where it opens a table and where it writes a checkpoint,
of the table's own folder and not of what lies in it. So there are two doors, in a folder of this process that goes with
it:

* A folder with a link ``_delta_log`` in it: what is opened through it reads the log, commits, and writes checkpoints.
* One that becomes a link itself as soon as a table was opened through it: there delta-rs writes data files, too, but no
  checkpoint, which the next commit through the other one may.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from deltalake import DeltaTable, PostCommitHookProperties

_ODD = re.compile(r"[\x00-\x1f\x7f\[\]^|\\]|%[0-9A-Fa-f]{2}")
"""What delta-rs cannot open by itself; found by trying every character."""
_LOG = "_delta_log"
_NUMBERS = count()
_LOCK = threading.Lock()


def is_odd(folder: Path) -> bool:
    """Whether a table at ``folder`` needs a door."""
    return _ODD.search(str(folder.absolute())) is not None


def opened(folder: Path) -> DeltaTable:
    """The table at ``folder``; errors are those of `DeltaTable`."""
    return DeltaTable(_door_of_log(folder) if is_odd(folder) else folder.absolute())


def made(folder: Path, *args: Any, **kwargs: Any) -> DeltaTable:
    """A new table at ``folder``; arguments and errors are those of `DeltaTable.create`."""
    if not is_odd(folder):
        return DeltaTable.create(folder.absolute(), *args, **kwargs)
    (folder / _LOG).mkdir(parents=True, exist_ok=True)
    return DeltaTable.create(_door_of_log(folder), *args, **kwargs)


@contextmanager
def for_data(table: DeltaTable, folder: Path) -> Iterator[tuple[DeltaTable, PostCommitHookProperties | None]]:
    """``table``, which lies at ``folder``, as delta-rs itself may write data files of it; and what to say to each
    commit. ``table`` does not know of these commits afterwards, unless it is the same.
    """
    if not is_odd(folder):
        yield table, None
        return
    door = _new_door()
    door.mkdir()
    (door / _LOG).symlink_to(folder.absolute() / _LOG)
    try:
        inside = DeltaTable(door, version=table.version())
    finally:
        (door / _LOG).unlink()
        door.rmdir()
    door.symlink_to(folder.absolute())
    try:
        yield inside, PostCommitHookProperties(create_checkpoint=False)
    finally:
        door.unlink()


def link_to(folder: Path) -> Path:
    """``folder``, or a link with a harmless path that leads there: for those who follow links."""
    return _link_to(folder.absolute(), os.getpid()) if is_odd(folder) else folder


@cache
def _link_to(folder: Path, _pid: int) -> Path:
    link = _new_door()
    link.symlink_to(folder)
    return link


def _door_of_log(folder: Path) -> Path:
    """Always the same of a folder; its link is there where a log is."""
    log = folder.absolute() / _LOG
    with _LOCK:
        door = _folder_for(folder.absolute(), os.getpid())
        if log.is_dir() != (door / _LOG).is_symlink():
            (door / _LOG).symlink_to(log) if log.is_dir() else (door / _LOG).unlink()
    return door


@cache
def _folder_for(_folder: Path, _pid: int) -> Path:
    door = _new_door()
    door.mkdir()
    return door


def _new_door() -> Path:
    return Path(_room(os.getpid()).name) / str(next(_NUMBERS))


@cache
def _room(_pid: int) -> tempfile.TemporaryDirectory[str]:
    """A folder of this process, and of nobody else; taken away at its end."""
    usual = Path(tempfile.gettempdir())
    below = "/tmp" if is_odd(usual) or not str(usual).isprintable() else None  # noqa: S108  (made by mkdtemp)
    return tempfile.TemporaryDirectory(prefix="lapwing-doors-", dir=below)
