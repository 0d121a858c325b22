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
from typing import BinaryIO

from lapwing.audit.trail_files import open_trail

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
        files: Its files, the oldest first; none: there is no trail.
        lines: Lines that were looked at.
        first: The first line's number; 0: there is none.
        last: The last one's.
        last_hash: The last one's hash. Kept elsewhere, it shows whether all up to it was made anew.
        begins_late: Lines before the first one are gone. The rotation removes old files; whether it was that, or
            somebody has taken lines out there, the trail cannot show.
        ends_in_half: Behind the last line stands half of one: it is being written, or a crash has cut it.
        broken: Where it breaks first.
    """

    files: list[Path]
    lines: int = 0
    first: int = 0
    last: int = 0
    last_hash: str = ""
    begins_late: bool = False
    ends_in_half: bool = False
    broken: Broken | None = None


def verify(file: Path, known: str | None = None) -> Verified:
    """Looks at every line of the trail that is written to ``file``, until one is not bound to the line before it.

    A broker may write it meanwhile: what it has written when this begins is looked at.

    Args:
        file: As ``audit.file`` names it; the older ones beside it are found.
        known: The hash of a line, as it was written down elsewhere; it must be there.

    Raises:
        OSError: a file cannot be read, or is none, such as a pipe.
    """
    with open_trail(file) as trail:
        found = Verified([opened.path for opened in trail])
        is_known, reached = known is None, 0
        for opened in trail:
            for number, line in enumerate(_lines(opened.file), start=1):
                if opened.number == 0 and _is_half(line):
                    found.ends_in_half = True
                    break
                if why := _problem(line, found):
                    found.broken = Broken(opened.path, number, why)
                    return found
                is_known, reached = is_known or found.last_hash == known, opened.number
    # A rotation that is under way, or was cut off, leaves a number out too, but always lines behind it.
    if reached > 1:
        path = file.with_name(f"{file.name}.{reached - 1}")
        found.broken = Broken(path, 0, f"the lines behind line {found.last} are missing")
    elif found.files and not is_known:
        why = "no line has the hash that is known: lines are missing, or all was made anew"
        found.broken = Broken(found.files[-1], 0, why)
    return found


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(_LINE_BYTES_MAX):
        yield line


def _is_half(line: bytes) -> bool:
    return not line.endswith(b"\n") and len(line) < _LINE_BYTES_MAX


def _problem(line: bytes, found: Verified) -> str:
    """Why a line is not the next one, empty if it is; then it is noted as the last."""
    if not line.endswith(b"\n"):
        return "the line has no end: it was cut off"
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
