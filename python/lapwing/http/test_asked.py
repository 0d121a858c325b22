"""Does one address whose questions hang leave the others their answers?"""

from __future__ import annotations

import threading

import anyio
import pytest

from lapwing.http.asked import WAITING_PER_ADDRESS_MAX, Asked
from lapwing.http.errors import HttpError


def test_one_address_waits_for_itself() -> None:
    gate = threading.Event()

    async def many() -> None:
        asked = Asked()
        answers: list[bool] = []

        async def ask() -> None:
            answers.append(await asked.ask("192.0.2.1", lambda: gate.wait(30)))

        async with anyio.create_task_group() as group:
            for _ in range(WAITING_PER_ADDRESS_MAX):
                group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(HttpError, match="too many"):
                await asked.ask("192.0.2.1", lambda: True)
            assert await asked.ask("192.0.2.2", lambda: "at once") == "at once"
            gate.set()
        assert answers == [True] * WAITING_PER_ADDRESS_MAX
        assert await asked.ask("192.0.2.1", lambda: 1) == 1
        assert not asked._by_address
        assert asked._count == 0

    anyio.run(many)
