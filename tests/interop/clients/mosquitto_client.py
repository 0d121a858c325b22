"""mosquitto_pub and mosquitto_sub, on the C library of the Eclipse Mosquitto project."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby

from clients.peer import Received, Sent
from clients.process import Program

_VERSIONS = {4: "mqttv311", 5: "mqttv5"}


class Mosquitto:
    """See `Peer`."""

    name = "mosquitto"

    def missing(self) -> str | None:
        return None if shutil.which("mosquitto_sub") else "mosquitto-clients is not installed"

    @contextmanager
    def subscribe(self, address: tuple[str, int], version: int, topic_filter: str) -> Iterator[_Inbox]:
        # Payloads in hexadecimal; -d tells when the SUBACK is there; stdbuf: pipes are block-buffered.
        form = ["-F", "message %t %q %x", "-d"]
        command = [
            "stdbuf",
            "-oL",
            "mosquitto_sub",
            *_where(address, version),
            "-t",
            topic_filter,
            "-q",
            "2",
            *form,
        ]
        with Program(command) as program:
            program.line(b"Subscribed (mid: 1): 2")
            yield _Inbox(program)

    def publish(self, address: tuple[str, int], version: int, messages: Sequence[Sent]) -> None:
        for (topic, qos), group in groupby(messages, key=lambda m: (m.topic, m.qos)):
            where = _where(address, version)
            with Program(["mosquitto_pub", *where, "-t", topic, "-q", str(qos), "-l"]) as program:
                program.write(b"".join(m.payload + b"\n" for m in group))
                program.wait()


class _Inbox:
    def __init__(self, program: Program) -> None:
        self._program = program

    def receive(self, count: int) -> list[Received]:
        return [self._one() for _ in range(count)]

    def _one(self) -> Received:
        topic, qos, payload = self._program.line(b"message ").split(b" ")
        return Received(topic.decode(), bytes.fromhex(payload.decode()), int(qos))


def _where(address: tuple[str, int], version: int) -> list[str]:
    return ["-h", address[0], "-p", str(address[1]), "-V", _VERSIONS[version]]
