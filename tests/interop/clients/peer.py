"""Somebody else's MQTT client, behind one interface: connect, subscribe, publish, receive.

Most are small programs that all speak the same way. They are started as

    PROGRAM url=wss://localhost:8443/mqtt version=5 id=a [ca=FILE] [user=NAME password=TEXT] [will=MESSAGE]

print ``connected``, and then take lines of input: ``subscribe FILTER`` (at QoS 2; answered by ``subscribed`` when the
SUBACK is there) and ``publish MESSAGE`` (answered by ``published`` when its last handshake has ended). What arrives is
printed as ``message MESSAGE``; `clients.message` says how a message is written. The end of the input is a DISCONNECT.
What goes wrong is printed and ends the program with exit code 1. MQTT 3.1.1 is ``version=4``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from program import Program

from clients.endpoint import SCHEMES, Endpoint
from clients.message import Message

VERSIONS = (4, 5)
_numbers = itertools.count(1)
_INTEROP = Path(__file__).parent.parent


class Session(Protocol):
    """One connected client."""

    def subscribe(self, topic_filter: str) -> None:
        """At QoS 2; the SUBACK has arrived on return."""
        ...

    def publish(self, messages: Sequence[Message]) -> None:
        """In order; every handshake has ended on return."""
        ...

    def receive(self, count: int) -> list[Message]:
        """The next `count` messages."""
        ...

    def end(self) -> None:
        """DISCONNECT; fails if the client has anything to complain about."""
        ...

    def die(self) -> None:
        """Breaks the connection without DISCONNECT."""
        ...


class Peer(Protocol):
    """One client implementation."""

    @property
    def name(self) -> str:
        """Short, for topics and the names of tests."""
        ...

    @property
    def schemes(self) -> tuple[str, ...]:
        """The transports it has."""
        ...

    def connect(self, endpoint: Endpoint, version: int, will: Message | None = None) -> AbstractContextManager[Session]:
        """A session, connected when the block is entered, dead when it is left."""
        ...

    def refusal(self, endpoint: Endpoint, version: int) -> str:
        """What the client prints when the broker refuses it; fails if it does not."""
        ...


@dataclass(frozen=True)
class ProgramPeer:
    """A client that is one of the programs described above. `command` fails with what to do where it is not there."""

    name: str
    command: Callable[[], list[str]]
    schemes: tuple[str, ...] = SCHEMES

    @contextmanager
    def connect(self, endpoint: Endpoint, version: int, will: Message | None = None) -> Iterator[Session]:
        """See `Peer`."""
        with Program([*self.command(), *self._arguments(endpoint, version, will)], _INTEROP) as program:
            program.next("connected")
            yield _ProgramSession(program)

    def refusal(self, endpoint: Endpoint, version: int) -> str:
        """See `Peer`."""
        with Program([*self.command(), *self._arguments(endpoint, version, None)], _INTEROP) as program:
            assert program.wait() == 1, program.said()
            return program.said()

    def _arguments(self, endpoint: Endpoint, version: int, will: Message | None) -> list[str]:
        given = {
            "url": endpoint.url,
            "version": version,
            "id": f"{self.name}-{next(_numbers)}",
            "ca": endpoint.ca,
            "user": endpoint.user,
            "password": endpoint.password,
            "will": will and will.line(),
        }
        return [f"{name}={value}" for name, value in given.items() if value is not None]


class _ProgramSession:
    def __init__(self, program: Program) -> None:
        self._program = program

    def subscribe(self, topic_filter: str) -> None:
        self._program.write(f"subscribe {topic_filter}")
        self._program.next("subscribed")

    def publish(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._program.write(f"publish {message.line()}")
        for _ in messages:
            self._program.next("published")

    def receive(self, count: int) -> list[Message]:
        return [Message.of(self._program.next("message")) for _ in range(count)]

    def end(self) -> None:
        self._program.end()

    def die(self) -> None:
        self._program.kill()


Connected = Callable[[Peer, str, int], Session]
"""Gives the session of a peer over a scheme in a version, connected already."""
