"""A question to the node about who somebody is. It calls back: no thread waits, so none that hangs holds up another.

How many wait, and of one address, the node bounds, where it knows what each waits for
(``crates/node/src/passwords/awaiting.rs``).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from lapwing.http.authority import Identify, Outcome

Answer = tuple[Outcome, str, float]


async def ask(identify: Identify, username: str | None, password: bytes, address: str, listener: str) -> Answer:
    """What ``identify`` says of these credentials, sooner or later."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Answer] = loop.create_future()

    def settle(answer: Answer) -> None:
        if not answered.done():  # who asked may have gone
            answered.set_result(answer)

    def then(outcome: Outcome, name: str, good_for_s: float) -> None:
        with suppress(RuntimeError):  # the loop has ended, and whoever asked with it
            loop.call_soon_threadsafe(settle, (outcome, name, good_for_s))

    return identify(username, password, address, listener, then) or await answered
