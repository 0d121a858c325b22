"""What PySpark's own threads say when the JVM has ended under them: into Spark's log, not onto the user's terminal.

Each prints a stack trace of its own on standard error, in pieces, around the one line that says what happened.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PY4J = "java_gateway"
"""The module that logs, to the root logger, each call that found no JVM; whoever called gets the exception as well."""


class LastWords(logging.Filter):
    """Takes py4j's records out of the root logger, and the errors of a `socketserver`, and writes them to a file."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self._file = logging.FileHandler(log, delay=True)
        self._file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(module)s: %(message)s"))

    def close(self) -> None:
        """The file is closed."""
        self._file.close()

    def filter(self, record: logging.LogRecord) -> bool:
        """False for what has gone into the file."""
        if record.module != _PY4J:
            return True
        self._file.handle(record)
        return False

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """In the place of `socketserver.BaseServer.handle_error`, within the handler of the exception."""
        record = logging.LogRecord(__name__, logging.ERROR, __file__, 0, "a server of PySpark's", (), None)
        record.exc_info = sys.exc_info()
        self._file.handle(record)


def keep_last_words(spark: SparkSession, log: Path) -> None:
    """From now on they go to ``log``; what a former session had said so goes there too."""
    words, root = LastWords(log), logging.getLogger()
    for former in [each for each in root.filters if isinstance(each, LastWords)]:
        root.removeFilter(former)
        former.close()
    root.addFilter(words)
    # It says nothing itself; py4j gives the root logger a handler when it has to say that the JVM is gone.
    logging.getLogger("py4j").propagate = False
    server: Any = getattr(spark.sparkContext, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = words.handle_error
