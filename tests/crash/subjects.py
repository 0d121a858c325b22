"""Brokers of the matrix: Lapwing as it is delivered, Mosquitto at its strictest, others by their command."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from commands import RunningBroker

from lapwing.lab.ports import free_port

READY_S = 120.0
STREAM = "all"
LAPWING = f"""\
[broker]
shards = 2
pin = false

[limits]
queue_messages_max = 1000000
queue_bytes_max = "1GiB"

[streams.{STREAM}]
filter = "s/#"
"""
MOSQUITTO = """\
listener {port} 127.0.0.1
user root
allow_anonymous true
persistence true
persistence_location {folder}/data/
autosave_on_changes true
autosave_interval 1
max_queued_messages 0
max_inflight_messages 0
set_tcp_nodelay true
log_type none
"""


@dataclass(frozen=True)
class Subject:
    """A broker by name.

    Args:
        command: Its words, with ``{port}``, ``{host}`` and ``{folder}``; empty: Lapwing.
        settings: Text of its configuration file, filled in likewise.
    """

    name: str
    command: tuple[str, ...] = ()
    settings: str = LAPWING

    @property
    def has_streams(self) -> bool:
        """Whether it keeps streams, beside sessions."""
        return not self.command

    @property
    def is_judged(self) -> bool:
        """Whether it is Lapwing, which has to keep what it promises; what others do is reported."""
        return not self.command


def subject(text: str) -> Subject:
    """``mosquitto``, or ``NAME=COMMAND``.

    Raises:
        ValueError: neither.
    """
    name, equals, command = text.partition("=")
    if equals:
        return Subject(name, tuple(shlex.split(command)), "")
    program = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if name != "mosquitto" or program is None:
        raise ValueError(f"{text}: give mosquitto, where it is installed, or NAME=COMMAND with {{port}} and {{folder}}")
    return Subject(name, (program, "-c", "{folder}/settings"), MOSQUITTO)


class Running:
    """One broker on one folder, which can be killed and started again."""

    def __init__(self, of: Subject, folder: Path) -> None:
        self.of, self.data = of, folder / "data"
        self.data.mkdir()
        self._folder, self._settings = folder, folder / "settings"
        self._port = free_port()
        self._settings.write_text(self._filled(of.settings))
        self._process: subprocess.Popen[str] | subprocess.Popen[bytes] | None = None
        self.url = self.http = ""
        self.words: list[str] = []

    def start(self, variables: dict[str, str]) -> None:
        """Returns when it takes connections.

        Raises:
            AssertionError: it ended, or does not.
        """
        if not self.of.command:
            running = RunningBroker(self.data, "--config", str(self._settings), variables=variables)
            self._process, self.words = running.process, running.errors
            running.wait_until_ready()
            self.url, self.http = running.url, running.http
            return
        self.url = f"tcp://127.0.0.1:{self._port}"
        with (self._folder / "log").open("ab") as log:
            command = [self._filled(word) for word in self.of.command]
            environment = {**os.environ, **variables}
            # A group of its own: the broker may be below a shell, and killing that alone would leave it running.
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self._folder, env=environment, start_new_session=True
            )
        deadline = time.monotonic() + READY_S
        while not self._listens():
            assert self._process.poll() is None, f"it ended: {(self._folder / 'log').read_text()[-500:]}"
            assert time.monotonic() < deadline, "it does not listen"
            time.sleep(0.02)

    def _filled(self, text: str) -> str:
        for name, value in (("port", str(self._port)), ("host", "127.0.0.1"), ("folder", str(self._folder))):
            text = text.replace(f"{{{name}}}", value)
        return text

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
        except OSError:
            return False
        return True

    @property
    def has_ended(self) -> bool:
        """By itself."""
        return self._process is not None and self._process.poll() is not None

    def kill(self) -> int:
        """As a crash, with all its processes, unless it has ended; returns the exit code."""
        if self._process is None:
            return 0
        if not self.of.command:
            self._process.send_signal(signal.SIGKILL)
            return self._process.wait(READY_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        code = self._process.wait(READY_S)
        deadline = time.monotonic() + READY_S
        while self._listens():
            assert time.monotonic() < deadline, "it still listens: a process of it has left its group"
            time.sleep(0.02)
        return code
