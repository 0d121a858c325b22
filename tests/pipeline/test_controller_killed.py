"""Is each command executed exactly once after SIGKILL at any step? Real processes, real kills, devices that reboot."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from messages import reading

from lapwing import Broker
from lapwing.client import Client
from lapwing.contracts.commands import (
    Command,
    Registration,
    answer_topic,
    command_topic,
    decode,
    encode,
    registration_topic,
)
from lapwing.lab.directed.device import DirectedDevice, Memory
from lapwing.pipeline.report.tables import read
from lapwing.pipeline.transforms.tiles import tile_names, tile_xy

SCRIPT = Path(__file__).with_name("killed_controller.py")
POINTS = ("seen", "outbox", "published", "commands", "batch")
DEVICES = 3
FIRST_S, NEXT_S = 30.0, 1.0
"""How long a device waits for the first command, and for one behind it: what waits for a device comes in one piece."""


class Phones:
    """Devices that stand still, a tile apart; what each remembers outlives it. `connect`: who they are."""

    def __init__(self, broker: Broker, **connect: Any) -> None:
        self.broker, self.connect = broker, connect
        self.serial = 0
        self.memories = {f"d{n}": Memory() for n in range(DEVICES)}
        self.executed: Counter[str] = Counter()

    def sense(self) -> None:
        """Each registers, and sends one reading."""
        for number, device in enumerate(self.memories):
            with self._client(device) as client:
                client.subscribe(command_topic(device), qos=1)
                registration = Registration(device, True, ("5G",))
                client.publish(registration_topic(device), encode(registration), qos=1, retain=True)
                client.publish(f"spectrum/{device}/readings", _reading(device, number, self.serial), qos=1)
                client.flush()
        self.serial += 1

    def obey(self, first_s: float = FIRST_S) -> None:
        """Each comes back rebooted, hears what waits for it, and answers. `first_s`: less where nothing need wait."""
        for number, device in enumerate(self.memories):
            one = DirectedDevice(device, ("5G",), 1.0, 1_000, 0, memory=self.memories[device])
            with self._client(device) as client:
                patience_s = first_s
                while (message := client.receive(patience_s)) is not None:
                    patience_s = NEXT_S
                    command = decode(message.payload, Command)
                    assert command
                    now_us = time.time_ns() // 1000
                    answers = one.hear(command, now_us, _tile(number))
                    answers += one.measure(now_us + 60_000_000, _tile(number))[1]
                    for answer in answers:
                        client.publish(answer_topic(device), encode(answer), qos=1)
                client.flush()
            self.executed.update(one.executed)

    def _client(self, device: str) -> Client:
        return Client(self.broker.url, client_id=device, clean_start=False, session_expiry_s=600, **self.connect)


def _place(number: int) -> tuple[float, float]:
    return 51.9 + number / 100, -8.47


def _tile(number: int) -> str:
    lat, lon = _place(number)
    return tile_names(*tile_xy(np.array([lat]), np.array([lon])))[0]


def _reading(device: str, number: int, serial: int) -> bytes:
    lat, lon = _place(number)
    return json.dumps(reading(device, serial, at=datetime.now(UTC), lat=lat, lon=lon)).encode()


def controller(broker: Broker, out: Path, point: str) -> int:
    source = f"{broker.http_url}/v1/streams/readings"
    command = [sys.executable, str(SCRIPT), source, broker.url, str(out), point]
    ended = subprocess.run(command, timeout=240, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read(out, table).to_pylist()
    return found


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_killed_at_every_step(tmp_path: Path) -> None:
    streams = {"readings": {"filter": "spectrum/+/readings", "partitions": 2, "key": "client"}}
    with Broker(streams=streams, http="127.0.0.1:0", data=tmp_path / "data") as broker:
        phones, out, stored = Phones(broker), tmp_path / "out", dict[str, bytes]()
        for point in POINTS:
            phones.sense()
            assert controller(broker, out, point) == -signal.SIGKILL, point
            if (out / "tables" / "outbox").is_dir():
                found = {row["id"]: row["payload"] for row in rows(out, "outbox")}
                assert stored.items() <= found.items(), f"{point}: what was stored was computed again"
                stored = found
        assert controller(broker, out, "never") == 0
        phones.obey()
        phones.obey(NEXT_S)  # what comes again is not executed again
        assert controller(broker, out, "never") == 0
    outbox, commands = rows(out, "outbox"), {row["id"]: row for row in rows(out, "commands")}
    assert len(outbox) == len(commands) >= DEVICES
    assert stored.items() <= {row["id"]: row["payload"] for row in outbox}.items()
    assert phones.executed == Counter({row["id"]: 1 for row in outbox})
    assert {row["state"] for row in commands.values()} == {"done"}
    assert len(rows(out, "readings")) == DEVICES * len(POINTS)
