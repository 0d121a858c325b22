"""Whether a trail is whole: each line's number and hash against the line before it, over all its files.

``hash`` is SHA-256 of the line's bytes up to the comma in front of it; those bytes end with ``prev``, the hash of the
line before, 64 zeros for the first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lapwing.regular_file import open_file

_HASH = b',"hash":"'
_FIRST = "0" * 64
_LINE_BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Broken:
    """Where a chain breaks, and why."""

    file: Path
    line: int
    why: str


@dataclass(slots=True)
class Verified:
    """What a trail holds, as far as it is whole.

    Attributes:
        files: Its files, the oldest first.
        lines: Lines that were looked at.
        first: The first line's number; 0: there is none.
        last: The last one's.
        last_hash: The last one's hash. Kept elsewhere, it shows whether all up to it was made anew.
        begins_late: Older files are gone, as ``audit.files`` says: what was before the first line cannot be known.
        broken: Where it breaks first.
    """

    files: list[Path]
    lines: int = 0
    first: int = 0
    last: int = 0
    last_hash: str = ""
    begins_late: bool = False
    broken: Broken | None = None


def trail_files(file: Path) -> list[Path]:
    """All files of the trail that is written to ``file``, the oldest first."""
    if not file.name:
        return []
    older = []
    number = 1
    while (path := file.with_name(f"{file.name}.{number}")).exists():
        older.append(path)
        number += 1
    return [*reversed(older), *([file] if file.exists() else [])]


def verify(files: list[Path], known: str | None = None) -> Verified:
    """Looks at every line of ``files``, the oldest first, until one is not bound to the line before it.

    Args:
        files: As ``trail_files`` names them.
        known: The hash of a line, as it was written down elsewhere; it must be there.

    Raises:
        OSError: a file cannot be read, or is none, such as a pipe.
    """
    found = Verified(files)
    is_known = known is None
    for file in files:
        for number, line in enumerate(_lines(file), start=1):
            why = _problem(line, found)
            if why:
                found.broken = Broken(file, number, why)
                return found
            is_known = is_known or found.last_hash == known
    if not is_known and files:
        found.broken = Broken(
            files[-1], 0, "no line has the hash that is known: lines are missing, or all was made anew"
        )
    return found


def _lines(file: Path) -> Iterator[bytes]:
    with open_file(file) as lines:
        while line := lines.readline(_LINE_BYTES_MAX):
            yield line


def _problem(line: bytes, found: Verified) -> str:
    """Why a line is not the next one, empty if it is; then it is noted as the last."""
    if not line.endswith(b"\n"):
        return "the line has no end: it is cut off, or is being written"
    hashed, _, rest = line[:-1].rpartition(_HASH)
    if not hashed:
        return "the line has no hash: audit.chain was false, or it was added"
    try:
        fields = json.loads(line)
        number, before, own = int(fields["seq"]), str(fields["prev"]), str(fields["hash"])
    except (ValueError, KeyError, TypeError):
        return "the line is not one of a trail"
    if rest != own.encode() + b'"}' or hashlib.sha256(hashed).hexdigest() != own:
        return "the line was changed: it has another hash than it says"
    if found.lines == 0:
        found.first, found.begins_late = number, before != _FIRST
    elif number != found.last + 1:
        return f"line {found.last + 1} is missing: this is {number}"
    elif before != found.last_hash:
        return "the line before it was changed: it has another hash than this one says"
    found.lines, found.last, found.last_hash = found.lines + 1, number, own
    return ""
