"""Waiting for what other processes do, with an end to the patience."""

from __future__ import annotations

import time
from collections.abc import Callable

from lapwing.errors import TimedOutError

PATIENCE_S = 60.0
"""Of each wait. Far more than any takes on a machine that is not busy with something else."""

_LOOK_S = 0.1


def until(
    is_so: Callable[[], object], what: str, meanwhile: Callable[[], None], patience_s: float = PATIENCE_S
) -> None:
    """Looks until it is so.

    Args:
        is_so: Whether it is.
        what: What is waited for, as the end of "within 60 s".
        meanwhile: Called before each look; raises where there is nothing to wait for any more.
        patience_s: For how long.

    Raises:
        TimedOutError: it is not so within ``patience_s``.
    """
    deadline_s = time.monotonic() + patience_s
    while True:
        meanwhile()
        if is_so():
            return
        if time.monotonic() > deadline_s:
            raise TimedOutError(f"{what} within {patience_s:g} s", remedy="see what the nodes have said")
        time.sleep(_LOOK_S)
