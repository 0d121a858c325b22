"""A part of an architecture: a process with a command line, a way to tell that it is ready, and logs that are kept."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from lapwing.errors import LapwingError, TimedOutError
from lapwing.lab.crowdsourcing.family import Family
from lapwing.niceness import set_niceness

Role = Literal["generator", "broker", "bridge", "kafka", "controller", "proxy"]

READY_S = 60.0
_END_S = 30.0
_HURRY_S = 5.0
_LOOK_S = 0.02
TAIL_LINES, TAIL_CHARACTERS = 6, 800


class PartEndedError(LapwingError):
    """A process of an experiment has ended by itself; the message has the last lines of its log."""


class Standing(Protocol):
    """A part that runs, or did."""

    @property
    def name(self) -> str:
        """Unique in its architecture."""

    @property
    def role(self) -> Role:
        """What it is."""

    @property
    def pid(self) -> int:
        """Its process; children belong to it."""

    @property
    def metrics(self) -> str:
        """Where its metrics are; empty: it has none."""

    @property
    def log(self) -> Path:
        """What it says."""

    def ended(self) -> int | None:
        """Its exit code; None while it runs."""

    def tally(self) -> Mapping[str, int]:
        """What it can be asked at the end and has no metrics for."""

    def stop(self, *, hurry: bool = False) -> int:
        """Lets it end in order, kills it if it does not; gives its exit code.

        Args:
            hurry: What it has is of no use any more: it gets little time.
        """


class Startable(Protocol):
    """A part, before it runs."""

    @property
    def name(self) -> str:
        """Unique in its architecture."""

    def start(self, folder: Path) -> Standing:
        """Starts it; its logs go to ``folder``.

        Raises:
            LapwingError: it ended, or was not ready in time.
        """


@dataclass(frozen=True)
class Part:
    """A process, as it is declared.

    Attributes:
        name: Also that of its logs: ``NAME.log`` (standard error) and ``NAME.out`` (standard output).
        command: Its words.
        ready: Asked again and again with the running process until it says so.
        metrics: Where its metrics are, ``http://HOST:PORT/metrics``; empty: nowhere.
        files: Written before it starts: path and text.
        ready_s: How long that may take.
        end_s: How long it may take to end after SIGTERM.
        niceness: How much it and its children give way to others.
    """

    name: str
    role: Role
    command: tuple[str, ...]
    ready: Callable[[Process], bool]
    metrics: str = ""
    files: Mapping[Path, str] = field(default_factory=dict)
    ready_s: float = READY_S
    end_s: float = _END_S
    niceness: int = 0

    def start(self, folder: Path) -> Process:
        """See `Startable`."""
        for path, text in self.files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        process = Process(self, folder)
        try:
            process.wait_until_ready()
        except BaseException:
            process.stop(hurry=True)
            raise
        return process


class Process:
    """A part that runs; see `Standing`.

    It is in a session of its own: Ctrl-C of a terminal is for the experiment, which ends its parts in order.
    """

    def __init__(self, part: Part, folder: Path) -> None:
        self.part = part
        self.name, self.role, self.metrics = part.name, part.role, part.metrics
        self.log, self.out = folder / f"{part.name}.log", folder / f"{part.name}.out"
        self._read_to = 0
        folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log, self.out.open("wb") as out:
            self._process = subprocess.Popen(  # noqa: S603 (commands of this package)
                part.command,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=log,
                cwd=folder,
                env=environment(os.environ) | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,
            )
        self.pid = self._process.pid
        if part.niceness:
            set_niceness(self.pid, part.niceness)

    def ended(self) -> int | None:
        """See `Standing`."""
        return self._process.poll()

    def tally(self) -> Mapping[str, int]:
        """See `Standing`: a process has metrics, or says what it has to say."""
        return {}

    def tell(self, document: Mapping[str, Any]) -> None:
        """Writes a line of JSON to its standard input; one that has ended does not hear it."""
        stdin = self._process.stdin
        if stdin is None or stdin.closed:
            return
        try:
            stdin.write(json.dumps(document).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            pass  # why it has ended, `ended` and its log tell

    def heard(self) -> list[dict[str, Any]]:
        """The lines of JSON that it has written to its standard output since the last call."""
        with self.out.open("rb") as file:
            file.seek(self._read_to)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read_to += len(whole)
        return [json.loads(line) for line in whole.splitlines() if line.startswith(b"{")]

    def wait_until_ready(self) -> None:
        """Until it is ready.

        Raises:
            PartEndedError: it ended.
            TimedOutError: it is not ready in time.
        """
        deadline = time.monotonic() + self.part.ready_s
        while not self.part.ready(self):
            check_alive(self)
            if time.monotonic() > deadline:
                what = f"{self.name} was not ready within {self.part.ready_s:g} s"
                raise TimedOutError(what, where=str(self.log), remedy=tail(self.log))
            time.sleep(_LOOK_S)

    def stop(self, *, hurry: bool = False) -> int:
        """See `Standing`; killed, its children are killed with it, and none of them outlives it."""
        family = Family(self.pid)
        if self._process.poll() is None:
            self._process.terminate()
        try:
            code = self._process.wait(_HURRY_S if hurry else self.part.end_s)
        except subprocess.TimeoutExpired:
            family.look()
            os.killpg(self.pid, signal.SIGKILL)
            code = self._process.wait()
        family.end(_HURRY_S)
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # what it did not read it does not need any more
                self._process.stdin.close()
        return code


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """That of the experiment without its user's settings of brokers, which would lie above a part's own file."""
    return {name: value for name, value in own.items() if not name.startswith("LAPWING_") or name.endswith("_JARS")}


def check_alive(part: Standing) -> None:
    """Raises `PartEndedError` if the part has ended by itself."""
    code = part.ended()
    if code is not None:
        how = f"with code {code}" if code >= 0 else f"by signal {-code}"
        raise PartEndedError(f"{part.name} ended {how}", where=str(part.log), remedy=tail(part.log))


def tail(log: Path) -> str:
    """The last lines of a log, in one."""
    try:
        lines = log.read_text(errors="replace").strip().splitlines()
    except OSError as problem:
        return f"its log cannot be read: {problem.strerror}"
    return " | ".join(lines[-TAIL_LINES:])[-TAIL_CHARACTERS:] or "it said nothing"


def listens(host: str, *ports: int) -> Callable[[Process], bool]:
    """Ready when something listens at every one of these ports."""

    def ready(_process: Process) -> bool:
        for port in ports:
            try:
                socket.create_connection((host, port), timeout=1).close()
            except OSError:
                return False
        return True

    return ready


def says(event: str) -> Callable[[Process], bool]:
    """Ready when it has written a line of JSON with this ``event``; lines before it are forgotten."""

    def ready(process: Process) -> bool:
        return any(line.get("event") == event for line in process.heard())

    return ready
