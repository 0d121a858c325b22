"""Threads for what blocks while a test goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Threads:
    """As `ThreadPoolExecutor`, but what still blocks when a test has failed holds nobody up."""

    def submit(self, call: Callable[..., T], *arguments: Any) -> Future[T]:
        """Runs it in a thread of its own."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(call(*arguments))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future
