"""Whether the folders that a broker writes into can be made and written, and are nobody else's now."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing._core import data_files_fault, data_folder_fault, data_folder_holder
from lapwing.errors import DataFolderError, LapwingError, WrongFolderError
from lapwing.rehearsal.made_streams import stream_faults
from lapwing.rehearsal.trail import trail_faults
from lapwing.text import one_line

if TYPE_CHECKING:
    from lapwing.config import Config


_IDENTITY = "cluster.json"
"""In a member's folder: which node of which cluster it is."""


def folder_faults(config: Config) -> Iterator[LapwingError]:
    """Of the data folder, if one is needed, with its streams, and of the audit trail."""
    if config.broker.durability == "disk" or config.streams:
        faults = list(_data_faults(config.broker.data))
        yield from faults or [*stream_faults(config), *file_faults(config), *_member_faults(config)]
    yield from trail_faults(config)


def wrong_folder(folder: Path) -> Iterator[LapwingError]:
    """What is no data folder that this version could ever use."""
    if folder.exists() and not folder.is_dir():
        yield DataFolderError("broker.data is no folder", where=str(folder), remedy="name a folder, or a new one")
    elif fault := data_folder_fault(folder):
        yield DataFolderError(f"broker.data: {one_line(fault)}")


def file_faults(config: Config) -> Iterator[DataFolderError]:
    """Files of the data folder that are gone, or are none; where a start would always refuse it, `WrongFolderError`."""
    fault = data_files_fault(config.broker.data, list(config.streams), config.broker.durability == "disk")
    if fault is not None:
        what, lasts = fault
        kind = WrongFolderError if lasts else DataFolderError
        yield kind(f"broker.data: {one_line(what)}")


def _data_faults(folder: Path) -> Iterator[LapwingError]:
    if folder.exists() and not folder.is_dir():
        yield from wrong_folder(folder)
    elif not _can_be_made(folder.absolute()):
        remedy = "name one that the broker may write, or let it"
        yield DataFolderError("broker.data cannot be written", where=str(folder), remedy=remedy)
    elif (holder := data_folder_holder(folder)) is not None:
        remedy = "stop that one, or say --running where it is the broker that this file is for"
        yield DataFolderError(f"broker.data is in use by process {holder}", where=str(folder), remedy=remedy)
    else:
        yield from wrong_folder(folder)


def _member_faults(config: Config) -> Iterator[DataFolderError]:
    """A member's folder without ``[cluster]``, or the other way round."""
    folder = config.broker.data
    is_of_cluster = (folder / _IDENTITY).exists()
    if config.cluster.name is not None and not is_of_cluster:
        remedy = "make a cluster with `lapwing cluster init`"
        yield DataFolderError(f"broker.data: {folder} is no member's folder", remedy=remedy)
    if config.cluster.name is None and is_of_cluster:
        remedy = "add the [cluster] that `lapwing cluster init` was given, or name another folder"
        yield DataFolderError(f"broker.data: {folder} is the folder of a member of a cluster", remedy=remedy)


def _can_be_made(folder: Path) -> bool:
    """Whether a folder can be written, or made where the nearest one above it exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
