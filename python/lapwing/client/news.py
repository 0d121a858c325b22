"""How asyncio hears of a link: its descriptor becomes readable, once per batch of news."""

from __future__ import annotations

import asyncio

from lapwing import _core
from lapwing.client.failures import core_failures
from lapwing.client.options import LinkPlan


class News:
    """Wakes the tasks of one event loop that wait for something to change on a link."""

    def __init__(self, link: _core.Link) -> None:
        self._link = link
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[asyncio.Future[None], None] = {}  # in order
        self._descriptor = link.fileno()
        self._loop.add_reader(self._descriptor, self._on_readable)
        self._closed = False

    def close(self) -> None:
        """Hears no more; before the link goes."""
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._descriptor)
            self.wake()

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Until there is news, which may be anything: look, and wait again. False when none came in time.

        Between looking and waiting nothing may be awaited: what changes meanwhile would be missed.
        """
        if self._closed:
            await asyncio.sleep(0)
            return True
        future = self._loop.create_future()
        self._waiting[future] = None
        try:
            async with asyncio.timeout(timeout_s):
                await future
        except TimeoutError:
            return False
        finally:
            self._waiting.pop(future, None)
        return True

    def _on_readable(self) -> None:
        # First this, then the tasks: what comes from now on makes it readable again.
        self._link.heard()
        self.wake()

    def wake(self) -> None:
        """Wakes everybody who waits."""
        waiting, self._waiting = self._waiting, {}
        for future in waiting:
            if not future.done():
                future.set_result(None)


async def start_async(plan: LinkPlan) -> tuple[_core.Link, News]:
    """Connects; errors are those of `LinkPlan.start_and_wait`."""
    link = plan.start()
    news = News(link)
    try:
        until = asyncio.get_running_loop().time() + plan.timeout_s + 1.0
        with core_failures(plan.url):
            while not link.wait_up(0.0):
                if not await news.wait(until - asyncio.get_running_loop().time()):
                    raise plan.too_late()
    except BaseException:
        news.close()
        link.abort()
        raise
    return link, news
