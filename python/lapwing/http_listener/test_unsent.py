"""Is who takes a little now and then too slow, and who takes enough, or all, not?"""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from lapwing.http_listener.unsent import PROGRESS_BYTES, Unsent, WritingClock


class Waiting(Unsent):
    """So many bytes, as each look finds them."""

    def __init__(self, *found: int) -> None:
        super().__init__(cast(asyncio.Transport, None))
        self.found = list(found)

    def here(self) -> int:
        return self.found[0]

    def all(self) -> int:
        return self.found.pop(0) if len(self.found) > 1 else self.found[0]


@pytest.mark.parametrize(
    ("found", "is_late"),
    [
        ((5_000, 4_990), True),
        ((9 * PROGRESS_BYTES, 9 * PROGRESS_BYTES - 100), True),
        ((3 * PROGRESS_BYTES, 2 * PROGRESS_BYTES, 2 * PROGRESS_BYTES, PROGRESS_BYTES, PROGRESS_BYTES, 0), False),
        ((5_000, 0), False),
    ],
)
def test_some_of_it_is_taken_each_time(found: tuple[int, ...], is_late: bool) -> None:
    async def watch() -> bool:
        waiting, late = Waiting(*found), asyncio.Event()
        clock = WritingClock(waiting, 0.001, late.set)
        clock.start()
        while clock._handle is not None:
            await asyncio.sleep(0.001)
        return late.is_set()

    assert asyncio.run(watch()) is is_late


def test_a_clock_that_was_stopped_says_nothing() -> None:
    async def watch() -> bool:
        late = asyncio.Event()
        clock = WritingClock(Waiting(5_000), 0.0, late.set)
        clock.start()
        clock.stop()
        await asyncio.sleep(0.005)
        return late.is_set()

    assert not asyncio.run(watch())
