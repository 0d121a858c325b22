"""What the tests of hooks share."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import lapwing

DEADLINE_S = 30


@pytest.fixture
def eventually() -> Callable[[Callable[[], object]], None]:
    """Polls until something is true, with a deadline."""

    def poll(done: Callable[[], object]) -> None:
        end = time.monotonic() + DEADLINE_S
        while not done():
            assert time.monotonic() < end, "it did not become so in time"
            time.sleep(0.005)

    return poll


@pytest.fixture
def failures() -> Callable[[lapwing.Broker, str, str], float]:
    """Calls of a hook without an answer, by reason."""

    def count(broker: lapwing.Broker, hook: str, reason: str) -> float:
        return broker.metrics()[f'lapwing_hook_failures_total{{hook="{hook}",reason="{reason}"}}']

    return count
