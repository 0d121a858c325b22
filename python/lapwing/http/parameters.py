"""The parameters of a stream read, checked: each problem names the parameter, its value and its range."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from lapwing.http.errors import HttpError

MESSAGES_DEFAULT, MESSAGES_MAX = 10_000, 1_000_000
BYTES_DEFAULT, BYTES_MAX = 8 << 20, 64 << 20
_OFFSET_MAX = 2**63 - 1
_DIGITS_MAX = 19
_READER_CHARACTERS_MAX = 64
_KNOWN = ("from", "limit", "bytes", "reader")


@dataclass(frozen=True)
class ReadParameters:
    """What one read asks for; ``offset_from`` None means the oldest message kept."""

    name: str
    partition: int
    offset_from: int | None
    messages_max: int
    bytes_max: int
    reader: str | None


def read_parameters(request: Request) -> ReadParameters:
    """From path and query.

    Raises:
        HttpError: 400 for a wrong or unknown parameter, 404 for what cannot be a partition.
    """
    query = request.query_params
    unknown = sorted(set(query) - set(_KNOWN))
    if unknown:
        raise _bad_parameter(unknown[0], query[unknown[0]], f"unknown; known are {', '.join(_KNOWN)}")
    repeated = next((name for name in _KNOWN if len(query.getlist(name)) > 1), None)
    if repeated:
        raise _bad_parameter(repeated, ", ".join(query.getlist(repeated)), "given more than once")
    return ReadParameters(
        name=request.path_params["name"],
        partition=_partition(request.path_params["partition"]),
        offset_from=_number("from", query["from"], 0, _OFFSET_MAX) if "from" in query else None,
        messages_max=_number("limit", query.get("limit", str(MESSAGES_DEFAULT)), 1, MESSAGES_MAX),
        bytes_max=_number("bytes", query.get("bytes", str(BYTES_DEFAULT)), 1, BYTES_MAX),
        reader=_reader(query.get("reader")),
    )


def _partition(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX and int(text) < 2**32:
        return int(text)
    raise HttpError(404, "partition_unknown", f"no partition {text!r}", "give a number from 0")


def _number(name: str, text: str, smallest: int, largest: int) -> int:
    if text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX and smallest <= int(text) <= largest:
        return int(text)
    raise _bad_parameter(name, text, f"must be a whole number from {smallest} to {largest}")


def _reader(text: str | None) -> str | None:
    if text is not None and not 1 <= len(text) <= _READER_CHARACTERS_MAX:
        raise _bad_parameter("reader", text, f"must have 1 to {_READER_CHARACTERS_MAX} characters")
    return text


def _bad_parameter(name: str, value: str, why: str) -> HttpError:
    shown = value if len(value) <= _READER_CHARACTERS_MAX else f"{value[:_READER_CHARACTERS_MAX]}..."
    return HttpError(
        400,
        "bad_parameter",
        f"{name}={shown}: {why}",
        "correct the query of the URL",
        parameter=name,
        value=shown,
    )
