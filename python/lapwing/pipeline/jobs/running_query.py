"""A query of Spark's that runs: whether it is over, without asking for it again and again."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery


class RunningQuery:
    """``query``, watched from a thread of its own."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query
        self._over = threading.Event()
        threading.Thread(target=self._watch, name="query", daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, for whatever reason; then `failure` says which."""
        return self._over.is_set()

    @property
    def progress(self) -> Any:
        """Spark's report of its last batch; None before the first. Raises ``SPARK_GONE``."""
        return self._query.lastProgress

    def wait(self, timeout_s: float) -> bool:
        """Waits at most so long, and says whether it is over."""
        return self._over.wait(timeout_s)

    def failure(self) -> BaseException | None:
        """Why it has ended; None where it runs, or was stopped. Raises ``SPARK_GONE``."""
        return self._query.exception()

    def stop(self) -> None:
        """Ends it, and waits for that. Raises ``SPARK_GONE``."""
        self._query.stop()

    def _watch(self) -> None:
        with suppress(Exception):  # `failure` says it
            self._query.awaitTermination()
        self._over.set()
