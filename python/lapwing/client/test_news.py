"""Who waits for news of a link is woken, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Iterator
from typing import cast

import pytest

from lapwing import _core
from lapwing.client.news import News

TIMEOUT_S = 30.0


class QuietLink:
    """As `_core.Link`, which has no news until `ring`."""

    def __init__(self) -> None:
        self._heard, self._rings = socket.socketpair()

    def fileno(self) -> int:
        """Readable after `ring`."""
        return self._heard.fileno()

    def heard(self) -> None:
        """Until the next."""
        self._heard.recv(16)

    def ring(self) -> None:
        """There is news."""
        self._rings.send(b"!")

    def close(self) -> None:
        """Both ends."""
        self._heard.close()
        self._rings.close()


@pytest.fixture
def link() -> Iterator[QuietLink]:
    link = QuietLink()
    yield link
    link.close()


def news_of(link: QuietLink) -> News:
    return News(cast(_core.Link, link))


def test_a_wait_that_comes_to_nothing_leaves_nothing(link: QuietLink) -> None:
    """Each that timed out, or was cancelled, left a future until the next news: an idle consumer grew."""

    async def wait() -> None:
        news = news_of(link)
        assert not await news.wait(0.0)
        waiting = asyncio.ensure_future(news.wait())
        await asyncio.sleep(0)
        assert len(news._waiting) == 1
        waiting.cancel()
        await asyncio.wait([waiting])
        assert not news._waiting
        link.ring()
        assert await news.wait(TIMEOUT_S)
        news.close()

    asyncio.run(asyncio.wait_for(wait(), TIMEOUT_S))


def test_who_waits_is_kept_and_who_does_not_is_not(link: QuietLink) -> None:
    """A task that nobody else has is woken; but a consumer that was dropped kept its connection, and its messages."""

    async def drop() -> None:
        woken = asyncio.Event()

        async def wait() -> None:
            await news_of(link).wait()
            woken.set()

        asyncio.ensure_future(wait())  # noqa: RUF006 (that nobody has it is the point)
        await asyncio.sleep(0)
        gc.collect()
        link.ring()
        await woken.wait()
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        assert not loop.remove_reader(link.fileno()), "its descriptor may be another's next"

    asyncio.run(asyncio.wait_for(drop(), TIMEOUT_S))
