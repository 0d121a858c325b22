"""A Mosquitto that is a bridge to Lapwing, and can be stopped and started again with what it has on disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import paho.mqtt.client as paho
import pytest
from restarting import RestartingBroker

from lapwing.lab.ports import free_port

TIMEOUT_S = 30
PATH = f"{os.environ['PATH']}:/usr/sbin"
NEWEST = Path(__file__).parents[2] / ".cache/mosquitto/mosquitto"
"""As `make nightly` fetches it."""


class MosquittoBridge:
    """Mosquitto with one bridge; `lines` are those of its connection, everything else is as Mosquitto has it."""

    def __init__(self, folder: Path, url: str, lines: str, *, newest: bool = False) -> None:
        program = str(NEWEST) if newest else shutil.which("mosquitto", path=PATH)
        assert program, "mosquitto is missing: run `make interop-clients`, which installs it"
        if not Path(program).exists():
            pytest.skip(f"{program} is missing: tools/newer_mosquitto.py fetches it, where it can be had")
        self.port = free_port()
        self._command = [program, "-c", str(folder / "mosquitto.conf")]
        self._log = folder / "mosquitto.log"
        folder.mkdir()
        (folder / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\npersistence_location {folder}/\n"
            f"max_queued_messages 0\nuser root\nlog_type all\nlog_dest stderr\n"
            f"connection br\naddress {url.removeprefix('tcp://')}\nremote_clientid br-1\nrestart_timeout 1\n{lines}"
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it listens."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stderr=log)
        deadline = time.monotonic() + TIMEOUT_S
        probe = paho.Client(paho.CallbackAPIVersion.VERSION2)
        while True:
            assert self._process.poll() is None, f"mosquitto ended: {self.said()[-2000:]}"
            assert time.monotonic() < deadline, "mosquitto does not listen"
            try:
                probe.connect("127.0.0.1", self.port)
                probe.disconnect()
                return
            except OSError:
                time.sleep(0.02)

    def stop(self) -> None:
        """Writes what it has to disk, as it does only when it is asked to end."""
        if self._process:
            self._process.terminate()
            assert self._process.wait(TIMEOUT_S) == 0, self.said()[-2000:]
            self._process = None

    def kill(self) -> None:
        """As a crash."""
        if self._process:
            self._process.kill()
            self._process.wait(TIMEOUT_S)
            self._process = None

    def said(self) -> str:
        """Its log so far."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def published_after_release(self, receiver: str) -> int:
        """How many PUBLISH of QoS 2 it sent `receiver` once more though it had sent it their PUBREL, by its own log.

        2.0.11 does that after its own restart, to its clients and its bridges: what it takes up beyond its limit of
        messages under way it takes for unsent, whatever its state was (`persist__client_msg_restore` puts it among the
        queued ones).
        """
        packet = re.compile(
            rf"Sending PUBREL to {re.escape(receiver)} \(m(?P<released>\d+)\)"
            rf"|Received PUBCOMP from {re.escape(receiver)} \(Mid: (?P<complete>\d+),"
            rf"|Sending PUBLISH to {re.escape(receiver)} \(d1, q2, r\d, m(?P<again>\d+),"
        )
        released: set[str] = set()
        count = 0
        for found in packet.finditer(self.said()):
            if packet_id := found["released"]:
                released.add(packet_id)
            elif packet_id := found["complete"]:
                released.discard(packet_id)
            else:
                count += found["again"] in released
        return count


StartBridge = Callable[..., tuple[RestartingBroker, MosquittoBridge]]


@pytest.fixture
def bridged(tmp_path: Path) -> Iterator[StartBridge]:
    """`bridged(lines, *arguments, newest=False)`: both started; `arguments` are Lapwing's."""
    with ExitStack() as stack:

        def start(lines: str, *arguments: str, newest: bool = False) -> tuple[RestartingBroker, MosquittoBridge]:
            broker = RestartingBroker(tmp_path, "--set", "broker.shards=2", *arguments)
            bridge = MosquittoBridge(tmp_path / "mosquitto", broker.url, lines, newest=newest)
            broker.start()
            stack.callback(broker.kill)
            bridge.start()
            stack.callback(bridge.kill)
            return broker, bridge

        yield start


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool], str], None]:
    """`eventually(is_so, what)`: within 30 seconds."""

    def wait(is_so: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not is_so():
            assert time.monotonic() < deadline, what
            time.sleep(0.02)

    return wait
