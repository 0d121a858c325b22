"""A process of the experiment: an order, one word when it is ready, the start, its last words."""

from __future__ import annotations

import dataclasses
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lapwing.errors import LapwingError

_READY_S = 30.0
_END_S = 20.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """Processor seconds that a process has used so far; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


class Process:
    """``python -m lapwing.lab.MODULE ORDER``. Use it in a ``with`` block.

    Args:
        module: Name in ``lapwing.lab``, with its room.
        order: A dataclass that ``json`` can write.
        descriptors: Files that it inherits.
        runs_on: It does not end by itself or with its standard input, but when it is told to by SIGTERM.
    """

    def __init__(self, module: str, order: Any, descriptors: Sequence[int] = (), *, runs_on: bool = False) -> None:
        self.name = module
        self._runs_on = runs_on
        self._process = subprocess.Popen(  # noqa: S603 (this package's own modules)
            [sys.executable, "-m", f"lapwing.lab.{module}", json.dumps(dataclasses.asdict(order))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=descriptors,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def wait_until_ready(self) -> None:
        """Until it has said so.

        Raises:
            LapwingError: it ended, or said nothing in time.
        """
        stdout = self._process.stdout
        if stdout is not None and select.select([stdout], [], [], _READY_S)[0] and stdout.readline().strip() == "ready":
            return
        self._fail("was not ready")

    def start(self, start_ns: int) -> None:
        """Tells it when the trace begins."""
        if self._process.stdin is not None:
            self._process.stdin.write(f"{start_ns}\n")
            self._process.stdin.flush()

    def has_ended(self) -> bool:
        """Whether it has ended by itself.

        Raises:
            LapwingError: it ended with an error.
        """
        code = self._process.poll()
        if code:
            self._fail("ended")
        return code is not None

    def end(self) -> dict[str, Any]:
        """Ends it, waits, and gives its last line of JSON, if it has one.

        Raises:
            LapwingError: it ended with an error.
        """
        if self._runs_on:
            self._process.terminate()
        try:
            output, _ = self._process.communicate(timeout=_END_S)
        except subprocess.TimeoutExpired:
            self._fail("did not end")
        if self._process.returncode:
            self._fail("ended")
        return json.loads(output) if output.strip() else {}

    def _fail(self, what: str) -> None:
        self._process.kill()
        _, errors = self._process.communicate()
        last = (errors or "").strip().splitlines()[-1:] or [f"exit code {self._process.returncode}"]
        raise LapwingError(f"a process of the experiment {what}: {last[0]}", where=self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self._process.wait()


def wait_for_all(processes: Sequence[Process]) -> None:
    """Until every one is ready."""
    for process in processes:
        process.wait_until_ready()


LEAD_S = 0.3
"""From the word to the first instant of a trace: every process has heard it by then."""


def start_all(processes: Sequence[Process]) -> int:
    """Starts the trace for all; gives its instant 0 in nanoseconds of the monotonic clock."""
    start_ns = time.monotonic_ns() + int(LEAD_S * 1e9)
    for process in processes:
        process.start(start_ns)
    return start_ns
