"""What became of a round."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from .crew import Crew


@dataclass
class Outcome:
    """`findings` is empty when everything was as promised."""

    seed: int
    shards: int
    crashes: int = 0
    sent: int = 0
    acknowledged: int = 0
    delivered: int = 0
    lost_changes: int = 0
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)
    folder: str = ""
    faults: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As one object."""
        return asdict(self)


def lived(live: Callable[[], None], crew: Crew, outcome: Outcome) -> Outcome:
    """Lives a round and fills in what the books of its crew say."""
    began, books = time.monotonic(), crew.books
    try:
        live()
    except Exception as error:
        # Whatever it is, the round has not shown what it should: it fails, and its data is kept.
        books.find(f"{type(error).__name__}: {error}")
        books.tell(traceback.format_exc())
    finally:
        crew.vanish()
    outcome.sent, outcome.acknowledged, outcome.delivered = books.sent, books.taken, books.delivered
    outcome.findings, outcome.seconds = books.findings, round(time.monotonic() - began, 2)
    return outcome
