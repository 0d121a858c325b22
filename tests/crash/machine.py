"""The broker's process and the disk below it: both may go down."""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from random import Random

import pyarrow as pa
import wire
from commands import RunningBroker
from web import get

from .power import PowerCut

STANDBY = 503
"""HTTP's word of a node of a cluster that does not serve."""


class Machine:
    """One broker on one folder.

    Args:
        folder: New, empty; the broker's data lies in `data` below it.
        settings: Text of the configuration file.
        power: What makes it possible to take back what was not synced; none: only the process goes down.
    """

    def __init__(self, folder: Path, settings: str, power: PowerCut | None = None) -> None:
        self.folder, self.data = folder, folder / "data"
        self.power = power
        self._settings = folder / "lapwing.toml"
        self._settings.write_text(settings)
        self._running: RunningBroker | None = None
        self._crashes = 0

    def start(self) -> RunningBroker:
        """Returns when it is ready.

        Raises:
            AssertionError: it does not start.
        """
        variables = self.power.prepare() if self.power else {}
        running = RunningBroker(self.data, "--config", str(self._settings), variables=variables)
        try:
            running.wait_until_ready()
        except BaseException:
            running.end(signal.SIGKILL)
            raise
        self._running = running
        return running

    @property
    def is_up(self) -> bool:
        """Whether it was started and has not gone down."""
        return self._running is not None

    @property
    def url(self) -> str:
        """For MQTT, while it is up."""
        assert self._running
        return self._running.url

    @property
    def http(self) -> str:
        """For HTTP, while it is up."""
        assert self._running
        return self._running.http

    def inside(self) -> AbstractContextManager[None]:
        """It is reached from anywhere here."""
        return nullcontext()

    def go_down(self, random: Random, *, power: bool) -> list[str]:
        """SIGKILL, with `power` the machine too; a copy of what is left is kept. Returns the broker's last words."""
        assert self._running
        running, self._running = self._running, None
        is_alive = running.process.poll() is None
        running.end(signal.SIGKILL)
        if power and self.power:
            self.power.cut(random)
        self._crashes += 1
        shutil.copytree(self.data, self.folder / f"after-crash-{self._crashes}")
        words = [line for line in running.errors if not line.startswith(("notice: ", "info: "))]
        return words if is_alive else [*words, "the broker had ended by itself"]


def read_stream(http: str, name: str) -> list[tuple[str, bytes]]:
    """Client id and payload of each message of a stream; partitions one behind the other.

    Raises:
        AssertionError: the offsets have a hole.
    """
    rows: list[tuple[str, bytes]] = []
    for partition in get(f"{http}/v1/streams/{name}").json()["partitions"]:
        offset = partition["first_offset"]
        while offset < partition["next_offset"]:
            response = get(f"{http}/v1/streams/{name}/{partition['partition']}", params={"from": offset})
            assert response.status_code == 200, response.text
            table = pa.ipc.open_stream(response.content).read_all()
            offsets = table["offset"].to_pylist()
            assert offsets, f"partition {partition['partition']} ends at {offset}, not {partition['next_offset']}"
            assert offsets == list(range(offset, offset + len(offsets))), f"offsets from {offset} have a hole"
            offset += len(offsets)
            rows += zip(table["client_id"].to_pylist(), table["payload"].to_pylist(), strict=True)
    return rows


def has_session(http: str, client_id: str) -> bool:
    """Whether the broker keeps a session of this client; one that stands by cannot know, and so has it."""
    status = get(f"{http}/v1/sessions/{client_id}").status_code
    assert status in (200, 404, STANDBY), f"the session of {client_id}: HTTP {status}"
    return status != 404


def read_retained(url: str, filter_: str, awaited: set[str], patience_s: float) -> dict[str, bytes]:
    """Payload by topic of all retained messages; waits for those `awaited` until nothing comes for so long.

    Raises:
        ConnectionError: the broker has closed the connection.
    """
    found: dict[str, bytes] = {}
    with wire.Wire.client(url, f"reader-{os.getpid()}") as reader:
        reader.send(wire.subscribe((filter_, 0)))
        try:
            while not awaited <= found.keys():
                if (packet := reader.receive(patience_s)) is None:
                    raise ConnectionError("the broker has closed the connection of who reads what is retained")
                if packet.kind == wire.PUBLISH:
                    found[packet.topic] = packet.payload
        except TimeoutError:
            return found
        # What comes beside them, if anything does, has come when this has gone there and back on the way that they go.
        for packet in reader.round_trip() + reader.round_trip():
            if packet.kind == wire.PUBLISH:
                found[packet.topic] = packet.payload
    return found
