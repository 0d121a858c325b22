"""What the commits of a table say of themselves, read from its log.

Not through ``DeltaTable.history``: delta-rs 1.x finds none where the path has ``#`` or ``?``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def commits(folder: Path, version: int) -> Iterator[dict[str, Any]]:
    """The ``commitInfo`` of each commit up to ``version`` that the log of the table at ``folder`` still has, latest
    first; empty ones for those that say nothing.
    """
    log = folder / "_delta_log"
    found = (int(each.stem) for each in log.glob("*.json") if each.stem.isdigit())
    for number in sorted((number for number in found if number <= version), reverse=True):
        yield _info(log / f"{number:020}.json")


def _info(commit: Path) -> dict[str, Any]:
    with commit.open(encoding="utf-8") as lines:
        said = (json.loads(line).get("commitInfo") for line in lines if '"commitInfo"' in line)
        return next((info for info in said if isinstance(info, dict)), {})
