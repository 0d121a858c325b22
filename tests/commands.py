"""`lapwing` as a process of its own, as a script would run it; or here, where that makes no difference."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest import mock

from fork_server import Forked, ForkServer, Request

from lapwing.cli.app import run

TIMEOUT_S = 60
LAPWING = [sys.executable, "-m", "lapwing"]
_TREE = Path(__file__).resolve().parent.parent


def clean_environment(**variables: str) -> dict[str, str]:
    """The environment without settings of Lapwing that the person running the tests may have."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LAPWING_")}
    return {**kept, "COLUMNS": "120", **variables}


def lapwing(
    *arguments: str, stdin: bytes | None = None, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs one command to its end; output as text."""
    if stdin is None and _acts_on_lapwing_alone(variables):
        return _ended(_fork(arguments, cwd, variables), arguments)
    result = subprocess.run(
        [*LAPWING, *arguments],
        input=stdin,
        capture_output=True,
        timeout=TIMEOUT_S,
        cwd=_folder(cwd),
        env=clean_environment(**variables),
        check=False,
    )
    return subprocess.CompletedProcess(result.args, result.returncode, result.stdout.decode(), result.stderr.decode())


def _folder(given: Path | None) -> Path:
    """Where a command begins: where it is told, or where the test has gone; instead of the tree in an empty folder of
    its own, for a `lapwing-data` or a `users.toml` of who works there is nothing for a test.
    """
    here = given or Path.cwd()
    if given is not None or not here.is_relative_to(_TREE):
        return here
    empty = Path(tempfile.mkdtemp(dir=_folders().name))
    empty.chmod(0o755)  # a broker may become another account
    return empty


@functools.cache
def _folders() -> tempfile.TemporaryDirectory[str]:
    made = tempfile.TemporaryDirectory(prefix="lapwing-commands-")
    Path(made.name).chmod(0o755)
    return made


def remove_folders() -> None:
    """The empty ones of all commands, and what these have put there; what comes later has others."""
    _folders().cleanup()
    _folders.cache_clear()


@functools.cache
def _fork_server() -> ForkServer:
    return ForkServer()


def _fork(arguments: tuple[str, ...], cwd: Path | None, variables: dict[str, str]) -> Forked:
    return _fork_server().start(Request([*arguments], str(_folder(cwd)), clean_environment(**variables)))


def _acts_on_lapwing_alone(variables: dict[str, str]) -> bool:
    """Whether a process that has begun can take them over: not those of the loader, the interpreter, its libraries."""
    return all(name.startswith("LAPWING_") for name in variables)


def _ended(process: Forked, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    too_long = threading.Timer(TIMEOUT_S, process.kill)
    too_long.start()
    errors: list[str] = []
    reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
    with process.stdout, process.stderr:
        reader.start()
        said = process.stdout.read()
        reader.join()
    code = process.wait()
    too_long.cancel()
    return subprocess.CompletedProcess(["lapwing", *arguments], code, said, errors[0])


def call(
    *arguments: str, stdin: bytes = b"", cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """The same in this process, without the time that a start takes: for what needs no signal, terminal or pipe."""
    read, out, err = (io.TextIOWrapper(io.BytesIO(given), "utf-8", write_through=True) for given in (stdin, b"", b""))
    with (
        mock.patch.dict(os.environ, clean_environment(**variables), clear=True),
        mock.patch.object(sys, "stdin", read),
        contextlib.chdir(_folder(cwd)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run([*arguments])
    said, errors = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(["lapwing", *arguments], code, said, errors)


def _started(
    arguments: tuple[str, ...], cwd: Path | None, variables: dict[str, str], *, by_fork: bool
) -> Forked | subprocess.Popen[str]:
    if by_fork and _acts_on_lapwing_alone(variables):
        return _fork(arguments, cwd, variables)
    return subprocess.Popen(
        [*LAPWING, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=_folder(cwd),
        env=clean_environment(**variables),
    )


class Running:
    """A command that runs until it is told to end, or the block is left.

    Args:
        by_fork: It may come of a process that runs already: not where it is to have what this thread has alone, as a
            network namespace.
    """

    def __init__(
        self,
        *arguments: str,
        cwd: Path | None = None,
        variables: dict[str, str] | None = None,
        by_fork: bool = True,
    ) -> None:
        self.process = _started(arguments, cwd, variables or {}, by_fork=by_fork)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.errors: list[str] = []
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.errors.append(line.rstrip("\n"))

    def line(self) -> str:
        """The next line of standard output."""
        line = self._lines.get(timeout=TIMEOUT_S)
        assert line is not None, f"the command ended: {self.errors}"
        return line

    def end(self, number: signal.Signals | None = signal.SIGTERM) -> int:
        """Sends a signal, waits, and returns the exit code."""
        if number is not None:
            self.process.send_signal(number)
        code = self.process.wait(TIMEOUT_S)
        for thread in self._threads:
            thread.join(TIMEOUT_S)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()


class RunningBroker(Running):
    """`lapwing broker` on ports of its own; `urls` by protocol once it is ready."""

    def __init__(self, data: Path, *arguments: str, variables: dict[str, str] | None = None) -> None:
        ports = ("--listen", "tcp://127.0.0.1:0", "--http", "127.0.0.1:0", "--data", str(data))
        super().__init__("broker", *ports, "--set", "broker.pin=false", "--json", *arguments, variables=variables)
        self.urls: dict[str, str] = {}

    def wait_until_ready(self) -> Self:
        """Until it has said so."""
        while (event := json.loads(self.line()))["event"] != "ready":
            self.urls[event["protocol"]] = event["url"]
        return self

    @property
    def url(self) -> str:
        """The MQTT listener."""
        return self.urls["mqtt"]

    @property
    def http(self) -> str:
        """The HTTP listener."""
        return self.urls["http"]


def rows(result: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Standard output as JSON, one object per line."""
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def one_error(result: subprocess.CompletedProcess[str]) -> str:
    """The one line on standard error, which is all there is."""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    assert result.stdout == ""
    return lines[0].removeprefix("error: ")
