"""Lines for standard error, which may take none: its disk is full, its reader has left, or does not read on.

That ends no broker, and holds none up: lines are left out, and counted, and that is said once it takes lines again.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from typing import TextIO

PATIENCE_S = 1.0
"""So long a reader is waited for, once; while it does not read on, no more."""


class StandardError:
    """Where lines go.

    Args:
        stream: None: standard error as it is when a line comes.
        patience_s: Instead of ``PATIENCE_S``.

    Attributes:
        left_out: Lines, since it took the last one.
    """

    def __init__(self, stream: TextIO | None = None, patience_s: float = PATIENCE_S) -> None:
        self._stream, self._patience_s = stream, patience_s
        self.left_out = 0
        self._why = ""
        self._is_within = False

    def write(self, text: str, form: Callable[[str], str] = "notice: {}".format) -> None:
        """Some lines, without the end of the last one; ``form`` makes one of what there is to say of lines before."""
        said = f"{self.left_out} lines of the log are left out here: {self._why}"
        try:
            self._put(f"{form(said)}\n{text}\n" if self.left_out else f"{text}\n")
        except (OSError, ValueError) as error:  # ValueError: it is closed
            self.left_out += 1
            self._why = getattr(error, "strerror", None) or str(error)
        else:
            self.left_out = 0

    def _put(self, text: str) -> None:
        stream = self._stream or sys.stderr
        try:
            descriptor = stream.fileno()
        except OSError:  # what is no file: io.StringIO
            stream.write(text)
            stream.flush()
            return
        self._put_bytes(descriptor, text.encode(stream.encoding or "utf-8", "backslashreplace"))

    def _put_bytes(self, descriptor: int, data: bytes) -> None:
        """Not through the stream, which keeps what could not be written, and writes it later."""
        if self._is_within:
            data = b"\n" + data
        while data:
            poll = select.poll()
            poll.register(descriptor, select.POLLOUT)
            if not poll.poll(0 if self.left_out else self._patience_s * 1000):
                raise TimeoutError(0, "nobody reads it")
            written = os.write(descriptor, data[: select.PIPE_BUF])
            self._is_within = not data[:written].endswith(b"\n")
            data = data[written:]
