"""MQTT.js, through one small script for Node.js."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from clients.peer import Received, Sent
from clients.process import Program

_HERE = Path(__file__).parent
_INSTALLED = _HERE.parent / "node_modules" / "mqtt"


class MqttJs:
    """See `Peer`."""

    name = "mqttjs"

    def missing(self) -> str | None:
        if not shutil.which("node"):
            return "node is not installed"
        # Not a reason to skip: `make` installs it, and a test that skips itself shows nothing.
        assert _INSTALLED.exists(), "MQTT.js is missing: run npm ci --prefix tests/interop"
        return None

    @contextmanager
    def subscribe(self, address: tuple[str, int], version: int, topic_filter: str) -> Iterator[_Inbox]:
        with Program(_command(address, version, "subscribe", topic_filter)) as program:
            program.line(b"subscribed")
            yield _Inbox(program)

    def publish(self, address: tuple[str, int], version: int, messages: Sequence[Sent]) -> None:
        with Program(_command(address, version, "publish")) as program:
            rows = [{"topic": m.topic, "payload": m.payload.hex(), "qos": m.qos} for m in messages]
            program.write(json.dumps(rows).encode())
            program.wait()


class _Inbox:
    def __init__(self, program: Program) -> None:
        self._program = program

    def receive(self, count: int) -> list[Received]:
        return [self._one() for _ in range(count)]

    def _one(self) -> Received:
        row = json.loads(self._program.line(b"message "))
        return Received(row["topic"], bytes.fromhex(row["payload"]), row["qos"])


def _command(address: tuple[str, int], version: int, *rest: str) -> list[str]:
    return ["node", str(_HERE / "mqttjs.mjs"), f"mqtt://{address[0]}:{address[1]}", str(version), *rest]
