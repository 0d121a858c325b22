"""A client that is a program: its output read line by line in a thread, so that waiting has a deadline."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from clients.peer import TIMEOUT_S


class Program:
    """A running program; killed at the end of the block."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._seen: list[bytes] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line.rstrip(b"\n"))
        self._lines.put(None)

    def write(self, data: bytes) -> None:
        """Gives `data` to the program's input and closes it."""
        assert self._process.stdin
        self._process.stdin.write(data)
        self._process.stdin.close()

    def line(self, start: bytes) -> bytes:
        """The rest of the next line that begins with `start`; others are skipped."""
        while True:
            try:
                line = self._lines.get(timeout=TIMEOUT_S)
            except queue.Empty:
                raise AssertionError(f"no {start!r} within {TIMEOUT_S} s; saw {self._seen[-20:]}") from None
            assert line is not None, f"the program ended before {start!r}; saw {self._seen[-20:]}"
            self._seen.append(line)
            if line.startswith(start):
                return line[len(start) :]

    def wait(self) -> None:
        """Until it ends, which must be well."""
        code = self._process.wait(TIMEOUT_S)
        while not self._lines.empty():
            self._seen.append(self._lines.get() or b"")
        assert code == 0, f"exit code {code}; saw {self._seen[-20:]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
