"""The pictures of a job's tables, and the time that they took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any


def with_pictures(done: Any, draw: Callable[[], list[Path]]) -> Any:
    """What a run did, and what ``draw`` has drawn of it."""
    begun = time.monotonic()
    pictures = draw()
    phases = {**done.seconds_by_phase, "draw": time.monotonic() - begun}
    return replace(done, pictures=tuple(pictures), seconds_by_phase=phases)
