"""mosquitto_pub and mosquitto_sub, on the C library of the Eclipse Mosquitto project: a process for each verb."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from typing import Any

from program import Program

from clients.endpoint import Endpoint
from clients.message import Message, Properties

_VERSIONS = {4: "mqttv311", 5: "mqttv5"}
_NAMES = {"content_type": "content-type", "response_topic": "response-topic", "correlation": "correlation-data"}


class Mosquitto:
    """See `Peer`. It has no WebSockets."""

    name = "mosquitto"
    schemes = ("tcp", "tls")

    @contextmanager
    def connect(self, endpoint: Endpoint, version: int, will: Message | None = None) -> Iterator[_Session]:
        """Nothing is connected until something is subscribed to or published."""
        with ExitStack() as programs:
            yield _Session(programs, _where(endpoint, version), version, will)

    def refusal(self, endpoint: Endpoint, version: int) -> str:
        """See `Peer`."""
        with Program([_found("mosquitto_sub"), *_where(endpoint, version), "-t", "refusal"]) as program:
            assert program.wait() != 0, program.said()
            return program.said()


class _Session:
    def __init__(self, programs: ExitStack, where: list[str], version: int, will: Message | None) -> None:
        self._programs = programs
        self._where = where
        self._version = version
        self._will = _will(will, version) if will else []
        self._subscriber: Program | None = None

    def subscribe(self, topic_filter: str) -> None:
        # %x is the payload in hexadecimal, %j has the rest; -d tells when the SUBACK is there; stdbuf: pipes are
        # block-buffered.
        form = ["-F", "message %x %j", "-d"]
        what = ["-t", topic_filter, "-q", "2", *self._will, *form]
        command = ["stdbuf", "-oL", _found("mosquitto_sub"), *self._where, *what]
        if self._subscriber:
            self._subscriber.kill()
        self._subscriber = self._programs.enter_context(Program(command))
        assert self._subscriber.next("Subscribed") == "(mid: 1): 2"

    def publish(self, messages: Sequence[Message]) -> None:
        for like, group in groupby(messages, key=lambda m: (m.topic, m.qos, m.retain, m.properties)):
            topic, qos, retain, properties = like
            what = ["-t", topic, "-q", str(qos), "-l", *(["-r"] if retain else []), *self._options(properties)]
            with Program([_found("mosquitto_pub"), *self._where, *what]) as program:
                for message in group:
                    program.write(message.payload.decode())
                program.end()

    def _options(self, properties: Properties) -> list[str]:
        return _properties(properties, "publish") if self._version == 5 else []

    def receive(self, count: int) -> list[Message]:
        assert self._subscriber
        return [_message(self._subscriber.next("message")) for _ in range(count)]

    def end(self) -> None:
        """mosquitto_sub says goodbye when it is told to terminate; each mosquitto_pub has ended before this."""
        assert self._subscriber
        self._subscriber.terminate()

    def die(self) -> None:
        assert self._subscriber
        self._subscriber.kill()


def _message(line: str) -> Message:
    payload, _, rest = line.partition(" ")
    # Objects as lists of pairs: the names of user properties may come twice.
    row: dict[str, Any] = dict(json.loads(rest, object_pairs_hook=list))
    given: dict[str, Any] = dict(row.get("properties", []))
    properties = Properties(
        given.get("payload-format-indicator") == 1,
        given.get("content-type", ""),
        given.get("response-topic", ""),
        given.get("correlation-data", "").encode(),
        tuple(given.get("user-properties", [])),
    )
    return Message(row["topic"], bytes.fromhex(payload), row["qos"], bool(row["retain"]), properties)


def _will(will: Message, version: int) -> list[str]:
    what = ["--will-topic", will.topic, "--will-payload", will.payload.decode(), "--will-qos", str(will.qos)]
    what += ["--will-retain"] if will.retain else []
    return what + (_properties(will.properties, "will") if version == 5 else [])


def _properties(given: Properties, command: str) -> list[str]:
    words = ["-D", command, "payload-format-indicator", "1"] if given.is_text else []
    for field, name in _NAMES.items():
        value = getattr(given, field)
        words += ["-D", command, name, value.decode() if isinstance(value, bytes) else value] if value else []
    for name, value in given.user:
        words += ["-D", command, "user-property", name, value]
    return words


def _where(endpoint: Endpoint, version: int) -> list[str]:
    where = ["-h", endpoint.host, "-p", str(endpoint.port), "-V", _VERSIONS[version]]
    where += ["--cafile", str(endpoint.ca)] if endpoint.ca else []
    where += ["-u", endpoint.user] if endpoint.user else []
    return where + (["-P", endpoint.password] if endpoint.password else [])


def _found(program: str) -> str:
    path = shutil.which(program)
    assert path, f"{program} is missing: run `make interop-clients`, which installs it"
    return path
