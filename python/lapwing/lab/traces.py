"""Finding and opening traces: a ZIP, a folder (with its subfolders), or one CSV file. One file is one
device.
"""

from __future__ import annotations

import re
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from zoneinfo import ZoneInfo

from lapwing.errors import LapwingError
from lapwing.lab.malformed_rows import Malformed
from lapwing.lab.trace_lines import Lines, Unreadable, as_text
from lapwing.lab.trace_row import READ, REQUIRED, MalformedRowError, RowReader, TraceRow

DEVICE_CHARS_MAX = 128
DEVICE_BYTES_MAX = 240
"""A device's name is its client id, of which brokers take 256 bytes."""
_ENDS = (".csv", ".csv.gz")
_REMEDY = "give --replay a ZIP, a folder or a CSV file"
_UNREADABLE = (OSError, EOFError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error)
"""What a disk, gzip and ZIP say of what is damaged, encrypted, or packed in a way that nobody here knows."""


class TraceError(LapwingError):
    """The traces cannot be used: not there, not readable, or not of the known columns."""

    exit_code = 2


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
            TraceError: the file cannot be read, lacks a column of ``REQUIRED``, or has one that is read twice.
        """
        try:
            yield from self._rows(zone)
        except _UNREADABLE as problem:
            told = (problem.strerror if isinstance(problem, OSError) else None) or str(problem) or "it ends too early"
            raise TraceError(
                f"cannot be read: {told}",
                where=self.name,
                remedy="is it whole, and not encrypted? take it out, or mend it",
            ) from None

    def _rows(self, zone: ZoneInfo) -> Iterator[TraceRow | Malformed]:
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
        if not columns:
            raise TraceError("there is no header that can be read", where=self.name, remedy="take the file out")
        missing = [column for column in REQUIRED if column not in columns]
        if missing:
            raise TraceError(
                f"column {', '.join(missing)} missing",
                where=self.name,
                remedy=f"replay takes CSV with a header that names {', '.join(REQUIRED)} (docs/demo.md)",
            )
        twice = [column for column in READ if columns.count(column) > 1]
        if twice:
            raise TraceError(f"column {', '.join(twice)} is there twice", where=self.name, remedy="rename one of them")


def find(path: Path) -> list[Trace]:
    """The traces under ``path``, in the order of their names.

    Raises:
        TraceError: nothing there, not a ZIP, or no ``.csv`` in it.
    """
    try:
        return _found(path)
    except FileNotFoundError:
        raise TraceError("no such file or folder", where=str(path), remedy=_REMEDY) from None
    except (OSError, zipfile.BadZipFile) as problem:
        told = problem.strerror if isinstance(problem, OSError) else problem
        raise TraceError(f"cannot be read: {told}", where=str(path), remedy=_REMEDY) from None


def _found(path: Path) -> list[Trace]:
    path.stat()  # says why, where it cannot be looked at
    if path.is_dir():
        files = {found.relative_to(path).as_posix(): found for found in path.rglob("*") if found.is_file()}
        return _traces(path, {name: _opener(found) for name, found in files.items()})
    if not path.is_file():  # who reads a pipe waits
        raise TraceError("neither a file nor a folder", where=str(path), remedy=_REMEDY)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = [member.filename for member in archive.infolist() if not member.is_dir()]
        twice = [name for name, members in Counter(names).items() if members > 1 and _is_trace(name)]
        if twice:  # whoever opens one by its name gets the last
            told = f"more than one of its files is called {twice[0]}"
            raise TraceError(told, where=str(path), remedy="pack it anew, with the ones that are meant")
        return _traces(path, {name: _member_opener(path, name) for name in names})
    if not _is_trace(path.name):
        raise TraceError("neither a ZIP nor a .csv file", where=str(path), remedy=_REMEDY)
    return _traces(path, {path.name: _opener(path)})


def _traces(path: Path, openers: dict[str, Callable[[], BinaryIO]]) -> list[Trace]:
    names = sorted(name for name in openers if _is_trace(name))
    if not names:
        raise TraceError("no .csv file in it", where=str(path), remedy=_REMEDY)
    devices = _devices(names)
    return [Trace(name, devices[name], openers[name]) for name in names]


def _is_trace(name: str) -> bool:
    # macOS archivers add a shadow `__MACOSX/._NAME.csv` for each file; those are not text.
    pure = PurePosixPath(name)
    return pure.name.lower().endswith(_ENDS) and not pure.name.startswith("._")


def _devices(names: Sequence[str]) -> dict[str, str]:
    """A device is called after its file; where two files share a name, after the whole path, or with a number."""
    stems = Counter(_slug(PurePosixPath(_stem(name)).name) for name in names)
    devices: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = _slug(PurePosixPath(_stem(name)).name)
        wanted = stem if stems[stem] == 1 else _slug(_stem(name))
        devices[name] = _free(wanted, taken)
        taken.add(devices[name])
    return devices


def _stem(name: str) -> str:
    """The path without what says that it is a trace."""
    return name[: -len(next(end for end in reversed(_ENDS) if name.lower().endswith(end)))]


def _free(wanted: str, taken: Set[str]) -> str:
    if wanted not in taken:
        return wanted
    return next(name for number in count(2) if (name := _slug(f"{wanted}-{number}")) not in taken)


def _slug(text: str) -> str:
    """A name that is one level of a topic and a client id: letters, digits, ``.``, ``_`` and ``-``.

    Letters of every script, each in one form: macOS takes an umlaut apart where others do not. Of a long name the end.
    """
    name = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", text))[-DEVICE_CHARS_MAX:]
    return name.encode()[-DEVICE_BYTES_MAX:].decode(errors="ignore") or "-"


def _opener(path: Path) -> Callable[[], BinaryIO]:
    return lambda: path.open("rb")


def _member_opener(path: Path, name: str) -> Callable[[], BinaryIO]:
    def open_member() -> BinaryIO:
        # Each trace opens the archive anew: the members of one shared `ZipFile` would seek in turns.
        with zipfile.ZipFile(path) as archive:
            return archive.open(name)  # type: ignore[return-value]

    return open_member
