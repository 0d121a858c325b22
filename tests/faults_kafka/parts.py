"""The processes that are killed: a broker, and members of a bridge that are started again whenever they end."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from lapwing.lab.ports import free_port

READY_S = 60.0
TOPIC = "faults"
FILTER = "spectrum/+/readings"


class Part:
    """One `lapwing` command that may be killed and started again; its output goes to one file."""

    def __init__(self, name: str, arguments: Sequence[str], folder: Path) -> None:
        self.name = name
        self._command = [sys.executable, "-m", "lapwing", *arguments]
        self._log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LAPWING_")}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment
            )

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def end(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


class BrokerPart(Part):
    """A broker that keeps its port and its data."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"tcp://127.0.0.1:{self.port}"
        group = f'groups.bridge={{filters = ["{FILTER}"], queue_messages_max = 10000000, queue_bytes_max = "8GiB"}}'
        more = ("--set", "broker.pin=false", "--http", "off", "--set", "envelope.stamp=always", "--set", group)
        super().__init__("broker", ("broker", "--listen", self.url, "--data", str(folder / "data"), *more), folder)

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                if not self.is_running:
                    raise AssertionError("the broker ended: see broker.log") from None
                time.sleep(0.05)
            else:
                return
        raise AssertionError("the broker does not listen")


class Members:
    """Bridge members, each started again when it has ended, as a supervisor of services would."""

    def __init__(self, count: int, url: str, bootstrap: str, folder: Path) -> None:
        rule = f'bridge.to_kafka=[{{name = "faults", filter = "{FILTER}", topic = "{TOPIC}"}}]'
        settings = (f"bridge.mqtt.url={url}", f"bridge.kafka.bootstrap={bootstrap}", "bridge.kafka.retry=200ms", rule)
        flags = [word for setting in settings for word in ("--set", setting)]
        self._parts = [Part(f"bridge-{number}", ("bridge", "run", *flags), folder) for number in range(count)]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_running, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def kill(self, number: int) -> str:
        part = self._parts[number % len(self._parts)]
        part.kill()
        return part.name

    def end(self) -> None:
        self._over.set()
        self._thread.join()
        for part in self._parts:
            part.end()

    def _keep_running(self) -> None:
        while True:
            for part in self._parts:
                if not part.is_running:
                    part.start()
            if self._over.wait(0.3):
                return
