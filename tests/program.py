"""A client that is a program: its output sorted by first word in a thread, so that every wait has a deadline."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

TIMEOUT_S = 60
"""Of each wait. Generous: a Java machine that starts beside a build takes its time."""

_LINES_REMEMBERED = 30


class Program:
    """A running program that prints lines of a word and a rest; killed at the end of the block."""

    def __init__(self, command: Sequence[str], folder: Path | None = None) -> None:
        self._name = command[0]
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self._changed = threading.Condition()
        self._ended = False
        self._waiting: defaultdict[str, deque[str]] = defaultdict(deque)
        self._seen: deque[str] = deque(maxlen=_LINES_REMEMBERED)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout
        for raw in self._process.stdout:
            line = raw.decode(errors="replace").rstrip("\n")
            word, _, rest = line.partition(" ")
            with self._changed:
                self._seen.append(line)
                self._waiting[word].append(rest)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def write(self, line: str) -> None:
        """One line of input."""
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    def close_input(self) -> None:
        """Tells it that nothing more comes."""
        assert self._process.stdin
        self._process.stdin.close()

    def next(self, word: str) -> str:
        """The rest of the next line that begins with `word`; lines with other words wait for who asks for them."""
        with self._changed:
            in_time = self._changed.wait_for(lambda: self._waiting[word] or self._ended, TIMEOUT_S)
            assert in_time, f"{self._name}: no {word!r} within {TIMEOUT_S} s; saw {list(self._seen)}"
            assert self._waiting[word], f"{self._name} ended before {word!r}; saw {list(self._seen)}"
            return self._waiting[word].popleft()

    def wait(self) -> int:
        """Its exit code, once it has ended by itself."""
        code = self._process.wait(TIMEOUT_S)
        with self._changed:
            assert self._changed.wait_for(lambda: self._ended, TIMEOUT_S)
        return code

    def end(self) -> None:
        """Closes its input, and waits for an end that is a good one."""
        self.close_input()
        code = self.wait()
        assert code == 0, f"{self._name}: exit code {code}; saw {list(self._seen)}"

    def terminate(self) -> None:
        """SIGTERM, and waits for an end that is a good one."""
        self._process.terminate()
        code = self.wait()
        assert code == 0, f"{self._name}: exit code {code}; saw {list(self._seen)}"

    def kill(self) -> None:
        """SIGKILL: its connections break without a farewell."""
        self._process.kill()
        self._process.wait()

    def said(self) -> str:
        """The last lines of its output."""
        with self._changed:
            return "\n".join(self._seen)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
