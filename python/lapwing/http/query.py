"""The query of a URL, checked: each problem names the parameter, its value and what it may be."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import QueryParams

from lapwing.http_listener.http_error import HttpError

_SHOWN_CHARACTERS_MAX = 64
_DIGITS_MAX = 19


def check_names(query: QueryParams, known: Sequence[str]) -> None:
    """Whether each parameter is known and there once.

    Raises:
        HttpError: 400, with the ones that are known.
    """
    unknown = sorted(set(query) - set(known))
    if unknown:
        raise bad_parameter(unknown[0], query[unknown[0]], f"unknown; known are {', '.join(known)}")
    repeated = next((name for name in known if len(query.getlist(name)) > 1), None)
    if repeated:
        raise bad_parameter(repeated, ", ".join(query.getlist(repeated)), "given more than once")


def number(name: str, text: str, smallest: int, largest: int) -> int:
    """A whole number in a range.

    Raises:
        HttpError: 400, with the range.
    """
    if is_number(text) and smallest <= int(text) <= largest:
        return int(text)
    raise bad_parameter(name, text, f"must be a whole number from {smallest} to {largest}")


def is_number(text: str) -> bool:
    """Whether it is one: ASCII digits, not too many for 64 bits."""
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX


def choice(name: str, text: str, choices: Sequence[str]) -> str:
    """One of several words.

    Raises:
        HttpError: 400, with the words.
    """
    if text in choices:
        return text
    raise bad_parameter(name, text, f"must be {' or '.join(choices)}")


def bad_parameter(name: str, value: str, why: str) -> HttpError:
    """400 for one parameter."""
    shown = value if len(value) <= _SHOWN_CHARACTERS_MAX else f"{value[:_SHOWN_CHARACTERS_MAX]}..."
    return HttpError(
        400,
        "bad_parameter",
        f"{name}={shown}: {why}",
        "correct the query of the URL",
        parameter=name,
        value=shown,
    )
