"""Finding and opening traces: a ZIP, a folder (with its subfolders), or one CSV file. One file is one
device.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from zoneinfo import ZoneInfo

from lapwing.errors import LapwingError
from lapwing.lab.trace_row import REQUIRED, MalformedRowError, TraceRow, parse

DEVICE_CHARS_MAX = 128


class TraceError(LapwingError):
    """The traces cannot be used: not there, not readable, or not of the known columns."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Malformed:
    """A row that cannot be sent: where it stands, and what is wrong with it. Lines count from 1, the
    header's.
    """

    file: str
    line: int
    problem: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Trace:
    """One trace file.

    Attributes:
        name: Its path inside the ZIP or folder, for messages.
        device: The name of the device that plays it.
        open: Opens its bytes.
    """

    name: str
    device: str
    open: Callable[[], BinaryIO]

    def rows(self, zone: ZoneInfo) -> Iterator[TraceRow | Malformed]:
        """Every row after the header, in the order of the file, sound or not.

        Raises:
            TraceError: the file is not UTF-8, or lacks a column of ``REQUIRED``.
        """
        with io.TextIOWrapper(self.open(), encoding="utf-8-sig", newline="") as text:
            reader = csv.DictReader(text)
            try:
                self._check_header(reader.fieldnames or ())
                yield from self._parsed(reader, zone)
            except UnicodeDecodeError as problem:
                where = f"{self.name}, after line {reader.line_num}"
                raise TraceError("not UTF-8 text", where=where, remedy="convert the file") from problem

    def _parsed(self, reader: csv.DictReader[str], zone: ZoneInfo) -> Iterator[TraceRow | Malformed]:
        while True:
            try:
                row = next(reader, None)
                if row is None:
                    return
                yield parse(row, zone)
            except MalformedRowError as problem:
                yield Malformed(self.name, reader.line_num, str(problem))
            except csv.Error as problem:
                # A field of more than 128 KiB, say; the line that it stands in is not counted yet.
                yield Malformed(self.name, reader.line_num + 1, str(problem))

    def _check_header(self, columns: Sequence[str]) -> None:
        missing = [column for column in REQUIRED if column not in columns]
        if missing:
            raise TraceError(
                f"column {', '.join(missing)} missing",
                where=self.name,
                remedy="replay takes the columns of the Cork traces",
            )


def find(path: Path) -> list[Trace]:
    """The traces under ``path``, in the order of their names.

    Raises:
        TraceError: nothing there, not a ZIP, or no ``.csv`` in it.
    """
    if not path.exists():
        raise TraceError(
            "no such file or folder", where=str(path), remedy="give --replay a ZIP, a folder or a CSV file"
        )
    if path.is_dir():
        files = {found.relative_to(path).as_posix(): found for found in path.rglob("*") if found.is_file()}
        return _traces(path, {name: _opener(found) for name, found in files.items()})
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        return _traces(path, {name: _member_opener(path, name) for name in names})
    return _traces(path, {path.name: _opener(path)})


def _traces(path: Path, openers: dict[str, Callable[[], BinaryIO]]) -> list[Trace]:
    names = sorted(name for name in openers if _is_trace(name))
    if not names:
        raise TraceError("no .csv file in it", where=str(path), remedy="give --replay a ZIP, a folder or a CSV file")
    devices = _devices(names)
    return [Trace(name, devices[name], openers[name]) for name in names]


def _is_trace(name: str) -> bool:
    # macOS archivers add a shadow `__MACOSX/._NAME.csv` for each file; those are not text.
    pure = PurePosixPath(name)
    return pure.suffix.lower() == ".csv" and not pure.name.startswith("._")


def _devices(names: Sequence[str]) -> dict[str, str]:
    """A device is called after its file; where two files share a name, after the whole path."""
    stems = Counter(_slug(PurePosixPath(name).stem) for name in names)
    devices = {}
    for name in names:
        stem = _slug(PurePosixPath(name).stem)
        devices[name] = stem if stems[stem] == 1 else _slug(str(PurePosixPath(name).with_suffix("")))
    if len(set(devices.values())) != len(names):
        twice = next(device for device, count in Counter(devices.values()).items() if count > 1)
        raise TraceError(f"two files would both be device {twice!r}", remedy="rename one of them")
    return devices


def _slug(text: str) -> str:
    """A name that is one level of a topic and a client id: letters, digits, ``.``, ``_`` and ``-``."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[-DEVICE_CHARS_MAX:]


def _opener(path: Path) -> Callable[[], BinaryIO]:
    def open_file() -> BinaryIO:
        try:
            return path.open("rb")
        except OSError as problem:
            raise TraceError(f"cannot be read: {problem.strerror}", where=str(path)) from problem

    return open_file


def _member_opener(path: Path, name: str) -> Callable[[], BinaryIO]:
    def open_member() -> BinaryIO:
        # Each trace opens the archive anew: the members of one shared `ZipFile` would seek in turns.
        try:
            with zipfile.ZipFile(path) as archive:
                return archive.open(name)  # type: ignore[return-value]
        except (OSError, zipfile.BadZipFile, RuntimeError) as problem:
            raise TraceError(f"cannot be read: {problem}", where=f"{path}/{name}") from problem

    return open_member
