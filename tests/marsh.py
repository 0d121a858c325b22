"""Brokers of one cluster, as processes of this machine: made by the commands that a user gives."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Self

from commands import RunningBroker, call
from web import answers, get

from lapwing.lab.ports import free_ports

DEADLINE_S = 60
"""Only reached on failure."""


def until(is_so: Callable[[], object], what: Callable[[], object] = lambda: "") -> None:
    """Waits until it is so."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, what()
        time.sleep(0.01)


class Host:
    """What a node runs on: this machine.

    Attributes:
        address: Where other nodes reach it. Clients and HTTP come by the loopback, from inside.
        is_here: Its processes may be forked from one that runs already.
    """

    address = "127.0.0.1"
    is_here = True

    def inside(self) -> AbstractContextManager[None]:
        """In this block what this thread starts runs there, and what it connects to is there."""
        return nullcontext()

    def variables(self) -> dict[str, str]:
        """Environment of a process that is about to start."""
        return {}


class MarshNode:
    """One node: its folder, its addresses, and its process while it runs.

    Args:
        settings: Options of all its commands, beside its own.
    """

    def __init__(self, folder: Path, name: str, host: Host | None = None, settings: tuple[str, ...] = ()) -> None:
        peers, mqtt, http = free_ports(3)
        self.host = host or Host()
        self.name, self.data = name, folder / name
        self.http, self.url = f"http://127.0.0.1:{http}", f"tcp://127.0.0.1:{mqtt}"
        self.settings = (
            *settings,
            *("--set", f"broker.data={self.data}", "--set", f'broker.listen=["{self.url}"]'),
            *("--set", f"broker.http=127.0.0.1:{http}", "--set", "broker.pin=false"),
            *("--set", f"cluster.name={name}", "--set", f"cluster.listen={self.host.address}:{peers}"),
        )
        self.process: RunningBroker | None = None

    def start(self) -> None:
        """Returns when it takes part."""
        with self.host.inside():
            started = _Started(*self.settings, variables=self.host.variables(), by_fork=self.host.is_here)
        self.process = started
        started.wait_until_ready()

    def kill(self) -> list[str]:
        """As a crash; gives all that it has said on standard error."""
        assert self.process
        killed, self.process = self.process, None
        killed.end(signal.SIGKILL)
        return killed.errors

    def stop(self) -> None:
        """As an operator does."""
        assert self.process
        assert self.process.end() == 0, self.process.errors
        self.process = None

    def status(self) -> Any:
        """As this node sees its cluster."""
        with self.host.inside():
            return json.loads(get(f"{self.http}/v1/cluster").content)

    def serves(self) -> bool:
        """Whether clients can connect to it."""
        with self.host.inside():
            return self.process is not None and answers(f"{self.http}/readyz")

    def call(self, *arguments: str) -> str:
        """What a command says here, once it has done what it was asked."""
        with self.host.inside():
            made = call(*arguments)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()


class _Started(RunningBroker):
    """With its own addresses, and no others."""

    def __init__(self, *settings: str, variables: dict[str, str], by_fork: bool) -> None:
        super(RunningBroker, self).__init__("broker", *settings, "--json", variables=variables, by_fork=by_fork)
        self.urls = {}


class Marsh:
    """A cluster whose first node runs in its block; the others join as they are asked to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes: list[MarshNode] = []

    def begin(self) -> None:
        """Makes the first node, and starts it."""
        first = self.make("n1")
        self.nodes.append(first)
        first.call("cluster", "init", *first.settings)
        first.start()

    def make(self, name: str) -> MarshNode:
        """A node with nothing in its folder."""
        return MarshNode(self.folder, name)

    def __enter__(self) -> Self:
        try:
            self.begin()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Kills all nodes."""
        for node in self.nodes:
            if node.process is not None:
                node.kill()

    def active(self) -> MarshNode:
        """The node that serves, once one does."""
        until(lambda: any(node.serves() for node in self.nodes), self.told)
        return next(node for node in self.nodes if node.serves())

    def token(self) -> str:
        """For one more node."""
        active = self.active()
        return active.call("cluster", "token", "--url", active.http)

    def join(self) -> MarshNode:
        """One more node, which votes when this returns."""
        node = self.make(f"n{len(self.nodes) + 1}")
        node.call("cluster", "join", self.token(), *node.settings)
        self.nodes.append(node)
        node.start()
        until(lambda: self.standing(node) == "voter", self.told)
        return node

    def standing(self, node: MarshNode) -> str:
        """What a node is in votes, as the one that serves sees it."""
        found = [each for each in self.active().status()["nodes"] if each["name"] == node.name]
        return str(found[-1]["standing"]) if found else "unknown"

    def told(self) -> str:
        """What all nodes have said, for who waits in vain."""
        return "\n".join(f"{node.name}: {node.process.errors}" for node in self.nodes if node.process)
