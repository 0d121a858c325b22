"""Brokers of one cluster, as processes of this machine: made by the commands that a user gives."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import RunningBroker, call, lapwing
from web import get

from lapwing.lab.ports import free_ports

DEADLINE_S = 60
"""Only reached on failure."""


def until(is_so: Callable[[], object], what: Callable[[], object] = lambda: "") -> None:
    """Waits until it is so."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, what()
        time.sleep(0.01)


class MarshNode:
    """One node: its folder, its addresses, and its process while it runs."""

    def __init__(self, folder: Path, name: str) -> None:
        peers, mqtt, http = free_ports(3)
        self.name, self.data = name, folder / name
        self.http, self.url = f"http://127.0.0.1:{http}", f"tcp://127.0.0.1:{mqtt}"
        self.settings = (
            *("--set", f"broker.data={self.data}", "--set", f'broker.listen=["{self.url}"]'),
            *("--set", f"broker.http=127.0.0.1:{http}", "--set", "broker.pin=false"),
            *("--set", f"cluster.name={name}", "--set", f"cluster.listen=127.0.0.1:{peers}"),
        )
        self.process: RunningBroker | None = None

    def start(self) -> None:
        """Returns when it takes part."""
        self.process = _Started(*self.settings).wait_until_ready()

    def kill(self) -> None:
        """As a crash."""
        assert self.process
        self.process.process.kill()
        self.process.process.wait()
        self.process = None

    def stop(self) -> None:
        """As an operator does."""
        assert self.process
        assert self.process.end() == 0, self.process.errors
        self.process = None

    def status(self) -> Any:
        """As this node sees its cluster."""
        return json.loads(get(f"{self.http}/v1/cluster").content)

    def serves(self) -> bool:
        """Whether clients can connect to it."""
        return self.process is not None and get(f"{self.http}/readyz").status_code == 200


class _Started(RunningBroker):
    """With its own addresses, and no others."""

    def __init__(self, *settings: str) -> None:
        super(RunningBroker, self).__init__("broker", *settings, "--json")
        self.urls = {}


class Marsh:
    """A cluster whose first node runs; the others join as they are asked to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes = [MarshNode(folder, "n1")]
        made = call("cluster", "init", *self.nodes[0].settings)
        assert made.returncode == 0, made.stderr
        self.nodes[0].start()

    def __enter__(self) -> Marsh:
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.nodes:
            if node.process is not None:
                node.kill()

    def active(self) -> MarshNode:
        """The node that serves, once one does."""
        until(lambda: any(node.serves() for node in self.nodes), self.told)
        return next(node for node in self.nodes if node.serves())

    def token(self) -> str:
        """For one more node."""
        made = call("cluster", "token", "--url", self.active().http)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    def join(self) -> MarshNode:
        """One more node, which votes when this returns."""
        node = MarshNode(self.folder, f"n{len(self.nodes) + 1}")
        joined = lapwing("cluster", "join", self.token(), *node.settings)
        assert joined.returncode == 0, joined.stderr
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
