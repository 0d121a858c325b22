"""A number as programs and spreadsheets write it: plain, or mended by a named rule, or none.

Python's own ``int`` and ``float`` decide nothing here: they take ``1_0`` for ten, digits of every script, and NaN.
"""

from __future__ import annotations

import re

from lapwing.lab.trace_repairs import Repair, shown

_PLAIN = re.compile(r"[+-]?(\d+|(\d+\.\d*|\.\d+)([eE][+-]?\d{1,3})?|\d+[eE][+-]?\d{1,3})", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_BY_COMMA = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
_BY_SPACE = re.compile(r"[+-]?\d{1,3}([ '\u2019\u00a0\u202f]\d{3})+(\.\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-"})
_NO_VALUE = frozenset(("nan", "na", "n/a", "null", "none", "2147483647"))
UNKNOWN = frozenset(("", "-"))


def number(text: str, column: str, repairs: list[Repair], *, decimal_comma: bool = False) -> int | float | None:
    """The number that ``text`` says; None where it says that there is none.

    Args:
        text: A cell.
        column: Its name, for messages.
        repairs: Gets what had to be mended.
        decimal_comma: Whether the file's delimiter is a semicolon: where people write that, the comma is a decimal one.
    Raises:
        ValueError: it says no number, or more than one could be meant; the text names column and value.
    """
    if text in UNKNOWN:
        return None
    if _PLAIN.fullmatch(text) and text != "2147483647":
        return _value(text, column)
    mended, rules = _mended(text, decimal_comma=decimal_comma)
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


def _mended(text: str, *, decimal_comma: bool) -> tuple[str | None, list[str]]:
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
    if decimal_comma and _DECIMAL_COMMA.fullmatch(said):
        return said.replace(",", "."), [*rules, "decimal_comma"]
    if _BY_COMMA.fullmatch(said):
        return said.replace(",", ""), [*rules, "thousands_separator"]
    if _BY_SPACE.fullmatch(said):
        return re.sub(r"[ '\u2019\u00a0\u202f]", "", said), [*rules, "thousands_separator"]
    if _DECIMAL_COMMA.fullmatch(said):
        return said.replace(",", "."), [*rules, "decimal_comma"]
    return said, rules
