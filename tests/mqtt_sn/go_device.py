"""A device on bisquitt, somebody else's client in Go (`bisquitt/main.go`); tests are skipped where it is not built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from program import Program

PROGRAM = Path(__file__).parents[2] / ".cache/interop/bisquitt/device"
QOS_MINUS_1 = 3
"""As bisquitt, and the flags of a PUBLISH, write it."""

Got = tuple[int, str, str]
"""QoS, topic and payload."""


class Device:
    """One device; it does one thing after another."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def begin(self, *words: object) -> None:
        """Orders something, see `bisquitt/main.go`."""
        self._program.write(" ".join(map(str, words)))

    def finished(self) -> None:
        """Waits until what was ordered first is done."""
        self._program.next("done")

    def do(self, *words: object) -> None:
        """Orders something, and waits until it is done."""
        self.begin(*words)
        self.finished()

    def refusal(self, *words: object) -> str:
        """Why it cannot do that; it ends over it."""
        self.begin(*words)
        why = self._program.next("failed")
        assert self._program.wait() == 1
        return why

    def receive(self, count: int) -> list[Got]:
        """The next messages, in the order of their payloads: it hands each out on a thread of its own."""
        got = [self._program.next("message").split(" ") for _ in range(count)]
        return sorted(((int(qos), topic, payload) for qos, topic, payload in got), key=lambda message: message[2])

    def die(self) -> None:
        """It goes without a word."""
        self._program.kill()


@contextmanager
def device(port: int, client_id: str, *options: str) -> Iterator[Device]:
    """A device that is not connected yet; killed at the end of the block."""
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is missing: `make interop-clients` builds it, where Go and its modules can be had")
    command = [str(PROGRAM), "-address", f"127.0.0.1:{port}", "-id", client_id, *options]
    with Program(command) as program:
        yield Device(program)
