"""The parameters of a stream read, checked: each problem names the parameter, its value and its range."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from lapwing.http.query import bad_parameter, check_names, is_number, number
from lapwing.http_listener.http_error import HttpError

MESSAGES_DEFAULT, MESSAGES_MAX = 10_000, 1_000_000
BYTES_DEFAULT, BYTES_MAX = 8 << 20, 64 << 20
_OFFSET_MAX = 2**63 - 1
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
    check_names(query, _KNOWN)
    return ReadParameters(
        name=request.path_params["name"],
        partition=_partition(request.path_params["partition"]),
        offset_from=number("from", query["from"], 0, _OFFSET_MAX) if "from" in query else None,
        messages_max=number("limit", query.get("limit", str(MESSAGES_DEFAULT)), 1, MESSAGES_MAX),
        bytes_max=number("bytes", query.get("bytes", str(BYTES_DEFAULT)), 1, BYTES_MAX),
        reader=_reader(query.get("reader")),
    )


def _partition(text: str) -> int:
    if is_number(text) and int(text) < 2**32:
        return int(text)
    raise HttpError(404, "partition_unknown", f"no partition {text!r}", "give a number from 0")


def _reader(text: str | None) -> str | None:
    if text is not None and not 1 <= len(text) <= _READER_CHARACTERS_MAX:
        raise bad_parameter("reader", text, f"must have 1 to {_READER_CHARACTERS_MAX} characters")
    return text
