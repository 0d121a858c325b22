"""Sizes and durations as people write them, kept as whole bytes and whole milliseconds.

``"64MiB"`` is 67,108,864 bytes, ``"64MB"`` is 64,000,000; ``"64M"`` could be either and is refused. A size
without a unit is bytes. A duration always carries its unit (``"24h"``, ``"1h30m"``, ``"500ms"``): 30 could be
seconds or milliseconds, and both readings exist in other brokers' files. Only 0 needs none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BeforeValidator
from pydantic.fields import FieldInfo

_SIZE_UNITS = {
    "": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}  # fmt: skip
_DURATION_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
_SIZE = re.compile(_NUMBER + r"\s*([A-Za-z]*)")
_DURATION_PART = re.compile(_NUMBER + r"\s*(ms|s|m|h|d)\s*")
_CHARACTERS_MAX = 100
"""Of a size or duration. A number of more than 308 digits is none that Python's can hold."""
_LARGEST = 2**63 - 1  # what the node's unsigned and TOML's signed integers both hold


@dataclass(frozen=True)
class Unit:
    """Marks a field of the model as a size or a duration, so that it is shown as one."""

    kind: Literal["bytes", "ms", "s"]


def parse_size(value: object) -> int:
    """Bytes of ``"64MiB"``, ``"1.5 GB"`` or ``4096``.

    Raises:
        ValueError: not a size; the message says how to write one.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return _within(value)
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[2] not in _SIZE_UNITS:
        raise ValueError('must be a size: a number with B, KiB, MiB, GiB, kB, MB or GB, as in "64MiB"')
    _refuse_long(match[1])
    return _within(round(float(match[1]) * _SIZE_UNITS[match[2]]) if "." in match[1] else _whole(match))


def _whole(match: re.Match[str]) -> int:
    return int(match[1]) * _SIZE_UNITS[match[2]]


def parse_duration_ms(value: object) -> int:
    """Milliseconds of ``"24h"``, ``"1h30m"``, ``"500ms"``, a ``timedelta``, or 0.

    Raises:
        ValueError: not a duration; the message says how to write one.
    """
    if isinstance(value, timedelta):
        return _within(round(value.total_seconds() * 1000))
    if value in (0, "0") and not isinstance(value, bool):
        return 0
    text = value.strip() if isinstance(value, str) else ""
    if not text or _DURATION_PART.sub("", text):
        raise ValueError('must be a duration with its unit: ms, s, m, h or d, as in "24h" or "1h30m"')
    _refuse_long(text)
    parts = _DURATION_PART.findall(text)
    return _within(round(sum(float(number) * _DURATION_UNITS_MS[unit] for number, unit in parts)))


def parse_duration_s(value: object) -> int:
    """Whole seconds of a duration.

    Raises:
        ValueError: not a duration, or not whole seconds.
    """
    duration_ms = parse_duration_ms(value)
    if duration_ms % 1_000:
        raise ValueError('must be whole seconds, as in "90s"')
    return duration_ms // 1_000


def _refuse_long(text: str) -> None:
    if len(text) > _CHARACTERS_MAX:
        raise ValueError(f"must be between 0 and {_LARGEST}, in {_CHARACTERS_MAX} characters at most")


def _within(value: int) -> int:
    if not 0 <= value <= _LARGEST:
        raise ValueError(f"must be between 0 and {_LARGEST}")
    return value


def show_size(size: int) -> str:
    """The shortest exact spelling: ``"64MiB"``, ``"1500B"``."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size and size % _SIZE_UNITS[unit] == 0:
            return f"{size // _SIZE_UNITS[unit]}{unit}"
    return f"{size}B"


def show_duration(duration_ms: int) -> str:
    """The shortest exact spelling: ``"24h"``, ``"1500ms"``; 24 h stays hours, as people say it."""
    if duration_ms == 0:
        return "0s"
    days = _DURATION_UNITS_MS["d"]
    units = ("h", "m", "s", "ms") if duration_ms % days or duration_ms == days else ("d",)
    unit = next(unit for unit in units if duration_ms % _DURATION_UNITS_MS[unit] == 0)
    return f"{duration_ms // _DURATION_UNITS_MS[unit]}{unit}"


def show_number(value: int, field: FieldInfo) -> str:
    """A value of ``field`` as one writes it: a size or a duration with its unit."""
    match _unit(field.annotation, field.metadata):
        case "bytes":
            return show_size(value)
        case "ms":
            return show_duration(value)
        case "s":
            return show_duration(value * 1_000)
        case _:
            return str(value)


def has_unit(field: FieldInfo) -> bool:
    """Whether it is a size or a duration, also where it may be something else: ``Size | None``."""
    return _unit(field.annotation, field.metadata) is not None


def _unit(kind: Any, marks: Iterable[object]) -> str | None:
    """Of a type, or of what it may be besides None."""
    found = next((mark.kind for mark in marks if isinstance(mark, Unit)), None)
    if found is not None:
        return found
    parts = get_args(kind)
    if get_origin(kind) is Annotated:
        return _unit(parts[0], parts[1:])
    return next((unit for part in parts if (unit := _unit(part, ()))), None)


Size = Annotated[int, BeforeValidator(parse_size), Unit("bytes")]
"""Bytes; written ``"64MiB"`` in files."""

Duration = Annotated[int, BeforeValidator(parse_duration_ms), Unit("ms")]
"""Milliseconds; written ``"24h"`` in files."""

Seconds = Annotated[int, BeforeValidator(parse_duration_s), Unit("s")]
"""Seconds; written ``"24h"`` in files."""
