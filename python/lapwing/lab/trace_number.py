"""A number as programs and spreadsheets write it: plain, or mended by a named rule, or none.

Python's own ``int`` and ``float`` decide nothing here: they take ``1_0`` for ten, digits of every script, and NaN.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lapwing.lab.trace_repairs import Repair, shown

_PLAIN = re.compile(r"[+-]?(\d+|(\d+\.\d*|\.\d+)([eE][+-]?\d{1,3})?|\d+[eE][+-]?\d{1,3})", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_BY_COMMA = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
_BY_SPACE = re.compile(r"[+-]?\d{1,3}([ '\u2019\u00a0\u202f]\d{3})+(\.\d+)?", re.ASCII)
_BY_POINT = re.compile(r"[+-]?\d{1,3}((\.\d{3})+,\d+|(\.\d{3}){2,})", re.ASCII)
_ONE_POINT = re.compile(r"[+-]?\d{1,3}\.\d{3}", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_DECIMAL_POINT = re.compile(r"[+-]?(\d*\.\d{1,2}|\d*\.\d{4,}|\d{4,}\.\d{3})", re.ASCII)
_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-"})
_NO_VALUE = frozenset(("nan", "na", "n/a", "null", "none", "2147483647"))
UNKNOWN = frozenset(("", "-"))


def points_group(cells: Iterable[str]) -> bool | None:
    """Whether a point before three digits separates thousands, by the other numbers of a row in which a comma may be a
    decimal one; None: it has decimal commas and decimal points, so nobody can know.
    """
    texts = [cell.strip().translate(_MINUS) for cell in cells]
    if not any(_DECIMAL_COMMA.fullmatch(text) or _BY_POINT.fullmatch(text) for text in texts):
        return False
    return None if any(_DECIMAL_POINT.fullmatch(text) for text in texts) else True


def number(
    text: str, column: str, repairs: list[Repair], *, decimal_comma: bool = False, grouped: bool | None = False
) -> int | float | None:
    """The number that ``text`` says; None where it says that there is none.

    Args:
        text: A cell.
        column: Its name, for messages.
        repairs: Gets what had to be mended.
        decimal_comma: Whether the file's delimiter is a semicolon: where people write that, the comma is a decimal one.
        grouped: Whether ``1.234`` is 1234; see `points_group`.

    Raises:
        ValueError: it says no number, or more than one could be meant; the text names column and value.
    """
    if text in UNKNOWN:
        return None
    by_point = grouped is not False and _ONE_POINT.fullmatch(text.strip().translate(_MINUS)) is not None
    if by_point and grouped is None:
        raise ValueError(f"{column} {shown(text)} may be thousands: the row has decimal commas and decimal points")
    if _PLAIN.fullmatch(text) and text != "2147483647" and not by_point:
        return _value(text, column)
    mended, rules = _mended(text, decimal_comma=decimal_comma, by_point=by_point)
    repairs += [Repair(rule, f"{column} {shown(text)}") for rule in rules]
    if mended is None or mended in UNKNOWN:
        return None
    if not _PLAIN.fullmatch(mended):
        raise ValueError(f"{column} {shown(text)} is not a number")
    return _value(mended, column)


def whole(value: float) -> int:
    """The closest whole number, halves away from zero: -97.5 is -98."""
    return int(abs(value) + 0.5) * (1 if value >= 0 else -1)


def _value(text: str, column: str) -> int | float:
    if _WHOLE.fullmatch(text):
        return int(text)
    value = float(text)
    if abs(value) == float("inf"):
        raise ValueError(f"{column} {shown(text)} is not a finite number")
    return value


def _mended(text: str, *, decimal_comma: bool, by_point: bool) -> tuple[str | None, list[str]]:
    """What is meant, None for no value, and by which rules."""
    rules: list[str] = []
    said = text.strip()
    if said != text:
        rules.append("spaces")
    if said.lower() in _NO_VALUE:
        return None, [*rules, "no_value"]
    if (dashed := said.translate(_MINUS)) != said:
        said = dashed
        rules.append("minus_sign")
    if by_point:
        return said.replace(".", ""), [*rules, "thousands_separator"]
    if _BY_POINT.fullmatch(said):
        also = ["decimal_comma"] if "," in said else []
        return said.replace(".", "").replace(",", "."), [*rules, "thousands_separator", *also]
    if decimal_comma and _DECIMAL_COMMA.fullmatch(said):
        return said.replace(",", "."), [*rules, "decimal_comma"]
    if _BY_COMMA.fullmatch(said):
        return said.replace(",", ""), [*rules, "thousands_separator"]
    if _BY_SPACE.fullmatch(said):
        return re.sub(r"[ '\u2019\u00a0\u202f]", "", said), [*rules, "thousands_separator"]
    if _DECIMAL_COMMA.fullmatch(said):
        return said.replace(",", "."), [*rules, "decimal_comma"]
    return said, rules
