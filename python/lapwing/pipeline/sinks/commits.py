"""What the commits of a table say of themselves, read from its log, and what is said in them.

Not through ``DeltaTable.history``: delta-rs 1.x finds none where the path has ``#`` or ``?``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_TOLD_CHARS_MAX = 200
"""Of what delta-rs says: it shows its own structures."""


def commits(folder: Path, version: int) -> Iterator[dict[str, Any]]:
    """The ``commitInfo`` of each commit up to ``version`` that the log of the table at ``folder`` still has, latest
    first; empty ones for those that say nothing.
    """
    log = folder / "_delta_log"
    found = (int(each.stem) for each in log.glob("*.json") if each.stem.isdigit())
    for number in sorted((number for number in found if number <= version), reverse=True):
        yield _info(log / f"{number:020}.json")


def commit_mark(folder: Path, version: int) -> tuple[int, int] | None:
    """By what a commit is known again while its table stays: files of a log are written once. None: it is not there."""
    log = folder / "_delta_log"
    for name in (f"{version:020}.json", f"{version:020}.checkpoint.parquet"):
        try:
            found = (log / name).stat()
        except FileNotFoundError:
            continue
        return found.st_size, found.st_mtime_ns
    return None


def _info(commit: Path) -> dict[str, Any]:
    with commit.open(encoding="utf-8") as lines:
        said = (json.loads(line).get("commitInfo") for line in lines if '"commitInfo"' in line)
        return next((info for info in said if isinstance(info, dict)), {})


def said_beside(commit: Mapping[str, Any]) -> Mapping[str, Any]:
    """What its writer said beside it; others' commits may say anything, or nothing."""
    try:
        said = json.loads(commit.get("userMetadata") or "{}")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def app_id(stream_uuid: str, partition: int) -> str:
    """The transaction whose version is up to where a table has a stream's partition."""
    return f"{stream_uuid}/{partition}"


def start_id(stream_uuid: str, partition: int) -> str:
    """The transaction whose version is where a job began with it."""
    return f"{stream_uuid}/{partition}/start"


def first_line(told: object) -> str:
    """Of what was told, as much as a line of an error takes."""
    return next(iter(str(told).splitlines()), type(told).__name__)[:_TOLD_CHARS_MAX]
