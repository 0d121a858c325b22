"""How asyncio hears of a link: its descriptor becomes readable, once per batch of news."""

from __future__ import annotations

import asyncio
import weakref
from contextlib import suppress

from lapwing import _core
from lapwing.client.failures import core_failures
from lapwing.client.options import LinkPlan


class News:
    """Wakes the tasks of one event loop that wait for something to change on a link.

    The event loop keeps it, and with it the link, while a task waits, no longer: who drops a consumer has dropped its
    connection.
    """

    def __init__(self, link: _core.Link) -> None:
        self._closed = True
        self._link = link
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[asyncio.Future[None], None] = {}  # in order
        self._descriptor = link.fileno()
        self._ear = _Ear(self)
        self._loop.add_reader(self._descriptor, self._ear.on_readable)
        self._closed = False

    def close(self) -> None:
        """Hears no more; before the link goes."""
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._descriptor)
            self.wake()

    def __del__(self) -> None:
        if not self._closed:
            # By any thread. The link is kept until then: its descriptor is closed with it, and may be another's next.
            with suppress(RuntimeError):  # the event loop is closed
                self._loop.call_soon_threadsafe(_forget, self._loop, self._descriptor, self._link)

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Until there is news, which may be anything: look, and wait again. False when none came in time.

        Between looking and waiting nothing may be awaited: what changes meanwhile would be missed.
        """
        if self._closed:
            await asyncio.sleep(0)
            return True
        future = self._loop.create_future()
        self._waiting[future] = None
        self._ear.kept = self
        try:
            async with asyncio.timeout(timeout_s):
                await future
        except TimeoutError:
            return False
        finally:
            self._waiting.pop(future, None)
            if not self._waiting:
                self._ear.kept = None
        return True

    def on_readable(self) -> None:
        """Somebody has news."""
        # First this, then the tasks: what comes from now on makes it readable again.
        self._link.heard()
        self.wake()

    def wake(self) -> None:
        """Wakes everybody who waits."""
        waiting, self._waiting = self._waiting, {}
        self._ear.kept = None
        for future in waiting:
            if not future.done():
                future.set_result(None)


class _Ear:
    """What the event loop has of some news.

    Attributes:
        kept: The news, while a task waits for it: nobody else may have that task.
    """

    def __init__(self, news: News) -> None:
        self.kept: News | None = None
        self._news = weakref.ref(news)

    def on_readable(self) -> None:
        """The descriptor is readable."""
        news = self._news()
        if news is not None:
            news.on_readable()


def _forget(loop: asyncio.AbstractEventLoop, descriptor: int, _: _core.Link) -> None:
    loop.remove_reader(descriptor)


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
