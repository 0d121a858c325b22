"""Whether the folders that a broker writes into can be made and written, and are nobody else's now."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.errors import DataFolderError, LapwingError
from lapwing.rehearsal.made_streams import stream_faults
from lapwing.rehearsal.trail import trail_faults
from lapwing.text import one_line

if TYPE_CHECKING:
    from lapwing.config import Config

_OURS = frozenset({"format", "streams", "log"})
# What may lie in a folder that says no format, as the store has it (crates/store/src/format.rs).
_NOBODYS = frozenset({"lock", "lost+found", "format.tmp"})
_TOLD_NAMES = 3
_NEWEST_FORMAT = 2
_FORMATS = frozenset(f"lapwing-log {version}\n".encode() for version in range(1, _NEWEST_FORMAT + 1))
"""What ``format`` may say, as the store has it."""
_FORMAT_BYTES_MAX = 4096


def folder_faults(config: Config) -> Iterator[LapwingError]:
    """Of the data folder, if one is needed, with its streams, and of the audit trail."""
    if config.broker.durability == "disk" or config.streams:
        faults = list(_data_faults(config.broker.data))
        yield from faults or stream_faults(config)
    yield from trail_faults(config)


def wrong_folder(folder: Path) -> Iterator[LapwingError]:
    """What is no data folder that this version could ever use."""
    if folder.exists() and not folder.is_dir():
        yield DataFolderError("broker.data is no folder", where=str(folder), remedy="name a folder, or a new one")
    elif foreign := _foreign(folder):
        remedy = "name an empty folder, or a new one"
        what = f"broker.data is no data folder of Lapwing: it has {foreign}"
        yield DataFolderError(what, where=one_line(str(folder)), remedy=remedy)
    else:
        yield from _format_faults(folder)


def _data_faults(folder: Path) -> Iterator[LapwingError]:
    if folder.exists() and not folder.is_dir():
        yield from wrong_folder(folder)
    elif not _can_be_made(folder.absolute()):
        remedy = "name one that the broker may write, or let it"
        yield DataFolderError("broker.data cannot be written", where=str(folder), remedy=remedy)
    elif (holder := _holder(folder / "lock")) is not None:
        remedy = "stop that one, or say --running where it is the broker that this file is for"
        yield DataFolderError(f"broker.data is in use by process {holder}", where=str(folder), remedy=remedy)
    else:
        yield from wrong_folder(folder)


def _format_faults(folder: Path) -> Iterator[LapwingError]:
    """Of what says which format the folder has; a new one has nothing."""
    file = folder / "format"
    try:
        with file.open("rb") as opened:
            said = opened.read(_FORMAT_BYTES_MAX)
    except FileNotFoundError:
        if any((folder / name).exists() for name in ("streams", "log")):
            remedy = "restore it from a copy: it says which format they have"
            yield DataFolderError(
                "the file is missing while streams or a journal are there", where=str(file), remedy=remedy
            )
        return
    except OSError as error:
        yield DataFolderError(f"cannot be read: {error.strerror}", where=str(file), remedy="let the broker read it")
        return
    if said not in _FORMATS:
        words = one_line(said.decode(errors="replace").strip())
        remedy = f"start the version of Lapwing that wrote it; this one reads up to {_NEWEST_FORMAT}"
        yield DataFolderError(f"broker.data has the format {words!r}", where=str(file), remedy=remedy)


def _foreign(folder: Path) -> str:
    """Some of what lies in a folder that is somebody else's; nothing where it is ours, or to be."""
    try:
        names = sorted(set(os.listdir(folder)) - _NOBODYS)
    except OSError:
        return ""  # not there, or not ours to read: the folder's rights have been looked at
    if not _OURS.isdisjoint(names):
        return ""  # whether it is whole, `lapwing store check` says
    told = ", ".join(f'"{one_line(name)}"' for name in names[:_TOLD_NAMES])
    more = len(names) - _TOLD_NAMES
    return f"{told} and {more} more" if more > 0 else told


def _can_be_made(folder: Path) -> bool:
    """Whether a folder can be written, or made where the nearest one above it exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _holder(lock: Path) -> str | None:
    """The process that has locked a data folder; None: nobody."""
    try:
        with lock.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read(32).decode(errors="replace").strip() or "unknown"
    except OSError:
        return None  # not there, or not ours to read: the folder's rights have been looked at
    return None
