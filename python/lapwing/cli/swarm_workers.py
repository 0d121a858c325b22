"""A swarm over several processes: more clients than one process may have open files.

Each worker is ``python -m lapwing.cli.swarm_worker``: its part of the profile on its standard input, then
"go" with one start instant for all, and "end" when all of them together have heard everything, or nothing for the drain
time; lines of JSON on its standard output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from lapwing import _core
from lapwing.cli.swarm_end import EndWatch
from lapwing.cli.swarm_worker import Line
from lapwing.errors import LapwingError

_LEAD_NS = 200_000_000
"""From "go" to the first message: every worker has read it by then."""
_END_S = 20.0
_LOOK_S = 0.05


class Workers:
    """All parts of a run, each in a process; behaves like one part.

    Args:
        whole: The profile of the whole run.
        processes: How many; at least 2.
    """

    def __init__(self, whole: dict[str, Any], processes: int) -> None:
        self._watch = EndWatch(whole["drain_s"], whole["sleep_s"])
        self._is_ending = False
        self._workers = [_Worker(_part(whole, number)) for number in range(processes)]

    def is_ready(self) -> bool:
        """True when the clients of every process are ready."""
        return self._all_have("ready")

    def _all_have(self, kind: Line) -> bool:
        # Each is asked: one that has failed is heard of, however long those before it go on.
        has = [worker.has(kind) for worker in self._workers]
        return all(has)

    def go(self, start_ns: int | None = None) -> None:
        """Lets all begin at the same instant."""
        start_ns = start_ns or _core.monotonic_ns() + _LEAD_NS
        for worker in self._workers:
            worker.tell({"go": start_ns})

    def progress_json(self) -> str:
        """The sum of all."""
        none_yet = dict.fromkeys(("ready", "clients", "sent", "delivered", "answered", "errors"), 0)
        return json.dumps(none_yet | self._sums())

    def _sums(self) -> dict[str, int]:
        counts = [worker.latest("progress") or {} for worker in self._workers]
        names = {name for count in counts for name in count}
        return {name: sum(count.get(name, 0) for count in counts) for name in names}

    def wait(self, timeout_s: float) -> bool:
        """Ends every process when nothing more will arrive; waits up to so long, true when all have ended."""
        deadline = time.monotonic() + timeout_s
        while not self._all_have("outcome"):
            self._end_when_over()
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOOK_S)
        return True

    def _end_when_over(self) -> None:
        """Tells all to end, once; what one has not said yet (it may still be to begin) is no silence."""
        has_heard_all = all(worker.latest("progress") for worker in self._workers)
        if self._is_ending or not has_heard_all or not self._watch.is_over(self._sums(), time.monotonic()):
            return
        self._is_ending = True
        for worker in self._workers:
            worker.tell({"end": True})

    def cancel(self) -> None:
        """Publishes no more."""
        for worker in self._workers:
            worker.tell({"cancel": True})

    def finish_json(self) -> str:
        """The raw figures of all, as a JSON list of JSON texts."""
        return json.dumps([json.dumps(worker.latest("outcome")) for worker in self._workers])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end()


class _Worker:
    """One process, and the last line of each kind that it wrote."""

    def __init__(self, part: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lapwing.cli.swarm_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C goes to the whole group of a terminal; the parent decides what it means.
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self._lines: dict[str, Any] = {}
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.tell(part)

    def tell(self, document: dict[str, Any]) -> None:
        stdin = self._process.stdin
        if stdin is None:
            return
        try:
            stdin.write(json.dumps(document) + "\n")
            stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; why, its last line or `has` says

    def _listen(self) -> None:
        for line in self._process.stdout or ():
            self._lines.update(json.loads(line))

    def latest(self, kind: Line) -> Any:
        return self._lines.get(kind)

    def has(self, kind: Line) -> bool:
        """True when such a line has come.

        Raises:
            CoreError: the worker's own error.
            LapwingError: it has ended without one.
        """
        # Asked first: a line that comes after this question is no reason to say that it never came.
        has_ended = self._process.poll() is not None and not self._listener.is_alive()
        if kind in self._lines:
            return True
        if "error" in self._lines:
            raise _core_error(self._lines["error"])
        if has_ended:
            what = f"a worker process of the swarm ended with code {self._process.returncode}"
            raise LapwingError(what, remedy="its own words stand above")
        return False

    def end(self) -> None:
        if self._process.poll() is None and "outcome" not in self._lines:
            self._process.terminate()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _part(whole: dict[str, Any], number: int) -> dict[str, Any]:
    """The profile of one worker: its number, its CPUs, and on the loopback an address of its own.

    One address carries some 28,000 connections to one broker: there are no more ports.
    """
    pin, threads = whole["pin"], whole["threads"]
    pins = [pin[(number * threads + thread) % len(pin)] for thread in range(threads)] if pin else []
    host = urlsplit(whole["url"] if "://" in whole["url"] else f"//{whole['url']}").hostname or ""
    on_loopback = host == "localhost" or host.startswith("127.")
    return whole | {
        "worker": number,
        "pin": pins,
        "sources": [f"127.0.1.{number % 250 + 1}"] if on_loopback else [],
    }


def _core_error(fields: dict[str, Any]) -> _core.CoreError:
    error = _core.CoreError(fields["message"])
    error.code, error.message, error.remedy = fields["code"], fields["message"], fields["remedy"]
    error.evidence = {}
    return error
