"""A broker process on one port, which can be killed and started again with what it has on disk."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

from commands import Running

from lapwing.lab.ports import free_ports


class RestartingBroker:
    """`lapwing broker` with one data folder and one port for its whole life."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.port, self.http_port = free_ports(2)
        self.url = f"tcp://127.0.0.1:{self.port}"
        self.http = f"http://127.0.0.1:{self.http_port}"
        self._arguments = ("--data", str(folder / "data"), "--set", "broker.pin=false", "--json", *arguments)
        self._running: Running | None = None
        self.is_up = threading.Event()

    def start(self) -> None:
        """Returns when it is ready."""
        listen = ("--listen", self.url, "--http", f"127.0.0.1:{self.http_port}")
        self._running = Running("broker", *listen, *self._arguments)
        while '"ready"' not in self._running.line():
            pass
        self.is_up.set()

    def stop(self) -> None:
        """As an operator does, clients let go in order."""
        self.is_up.clear()
        if self._running:
            assert self._running.end() == 0
            self._running = None

    def kill(self) -> None:
        """As a crash."""
        self.is_up.clear()
        if self._running:
            self._running.end(signal.SIGKILL)
            self._running = None
