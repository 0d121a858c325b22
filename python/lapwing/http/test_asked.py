"""Does each question have its answer, at once or later, while others hang; and does an answer for nobody do no harm?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Thread

import pytest

from lapwing.http.asked import Answer, ask
from lapwing.http.authority import Outcome

Then = Callable[[Outcome, str, float], object]
MANY = 500
"""Far more than there would be threads."""


class Waiting:
    """Answers those who come with a password when it is told to, and a token at once."""

    def __init__(self) -> None:
        self.thens: list[Then] = []

    def __call__(
        self, username: str | None, _password: bytes, _address: str, _listener: str, then: Then
    ) -> Answer | None:
        if username is None:
            return "known", "token", 1.0
        self.thens.append(then)
        return None

    def answer(self) -> None:
        for then in self.thens:
            then("known", "user", 2.0)


async def asked(node: Waiting, username: str | None = "user") -> Answer:
    return await asyncio.wait_for(ask(node, username, b"x", "192.0.2.1", "http://h"), 30)


def test_who_hangs_holds_up_nobody() -> None:
    node = Waiting()

    async def many() -> None:
        hanging = [asyncio.create_task(asked(node)) for _ in range(MANY)]
        gone = asyncio.create_task(asked(node))
        while len(node.thens) <= MANY:
            await asyncio.sleep(0)
        assert await asked(node, None) == ("known", "token", 1.0)
        gone.cancel()
        thread = Thread(target=node.answer)
        thread.start()
        assert await asyncio.gather(*hanging) == [("known", "user", 2.0)] * MANY
        thread.join()
        with pytest.raises(asyncio.CancelledError):
            await gone

    asyncio.run(many())
    node.answer()  # the loop has ended: nobody hears it, and nothing is raised
