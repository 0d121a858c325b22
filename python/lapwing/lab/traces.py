"""Finding and opening traces: a ZIP, a folder (with its subfolders), or one CSV file. One file is one
device.
"""

from __future__ import annotations

import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from zoneinfo import ZoneInfo

from lapwing.errors import LapwingError
from lapwing.lab.trace_lines import Lines, Unreadable, as_text
from lapwing.lab.trace_row import REQUIRED, MalformedRowError, RowReader, TraceRow
from lapwing.text import one_line

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
        return one_line(f"{self.file}:{self.line}: {self.problem}")


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
            TraceError: the file lacks a column of ``REQUIRED``, or has one twice.
        """
        with as_text(self.open()) as text:
            lines = Lines(text)
            columns = lines.header(REQUIRED)
            self._check_header(columns)
            reader = RowReader(columns, zone, decimal_comma=lines.delimiter == ";")
            for record in lines.records():
                if isinstance(record, Unreadable):
                    yield Malformed(self.name, record.line, record.problem)
                    continue
                try:
                    yield reader.read(record.line, record.fields)
                except MalformedRowError as problem:
                    yield Malformed(self.name, record.line, str(problem))

    def _check_header(self, columns: Sequence[str]) -> None:
        missing = [column for column in REQUIRED if column not in columns]
        if missing:
            raise TraceError(
                f"column {', '.join(missing)} missing",
                where=self.name,
                remedy=f"replay takes CSV with a header that names {', '.join(REQUIRED)} (docs/demo.md)",
            )
        twice = [column for column in REQUIRED if columns.count(column) > 1]
        if twice:
            raise TraceError(f"column {', '.join(twice)} is there twice", where=self.name, remedy="rename one of them")


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
    """A device is called after its file; where two files share a name, after the whole path, or with a number."""
    stems = Counter(_slug(PurePosixPath(name).stem) for name in names)
    devices: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = _slug(PurePosixPath(name).stem)
        wanted = stem if stems[stem] == 1 else _slug(str(PurePosixPath(name).with_suffix("")))
        devices[name] = _free(wanted, taken)
        taken.add(devices[name])
    return devices


def _free(wanted: str, taken: Set[str]) -> str:
    if wanted not in taken:
        return wanted
    return next(name for number in count(2) if (name := f"{wanted[: DEVICE_CHARS_MAX - 12]}-{number}") not in taken)


def _slug(text: str) -> str:
    """A name that is one level of a topic and a client id: letters, digits, ``.``, ``_`` and ``-``.

    Letters of every script, each in one form: macOS takes an umlaut apart where others do not.
    """
    return re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", text))[-DEVICE_CHARS_MAX:]


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
