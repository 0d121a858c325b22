"""Standard output or error as a script's reader sees it: whole lines, at once."""

from __future__ import annotations

from threading import Lock
from typing import TextIO


class Pipe:
    """Writes from any thread. A reader that has left is told to the script's thread, by ``check``."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = Lock()
        self._broken: BrokenPipeError | None = None

    def write(self, text: str) -> None:
        """Writes ``text`` in one piece; nothing once the reader has left."""
        with self._lock:
            if self._broken is None:
                try:
                    self._stream.write(text)
                    self._stream.flush()
                except BrokenPipeError as error:
                    self._broken = error

    def check(self) -> None:
        """Raises ``BrokenPipeError`` when the reader has left."""
        if self._broken is not None:
            raise self._broken
