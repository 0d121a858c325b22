"""The three nodes together: made, asked who serves, and ended."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lapwing.lab.cluster_demo.node import DemoNode, lapwing
from lapwing.lab.cluster_demo.waiting import until
from lapwing.lab.ports import free_ports

NAMES = ("n1", "n2", "n3")
CLUSTER = "demo"

CAUGHT_UP_ENTRIES = 64
"""A node that lacks no more than this has caught up: by the same number a node that joins gets its vote."""

_PORTS = 3


class Trio:
    """A cluster of three in one folder. Use it in a ``with`` block: at its end no process is left.

    Args:
        folder: Empty; gets configurations, data and logs.
        say: Told what happens.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        ports = free_ports(_PORTS * len(NAMES))
        own = [ports[first : first + _PORTS] for first in range(0, len(ports), _PORTS)]
        self.nodes = [
            DemoNode(folder, name, (peers, mqtt, http)) for name, (peers, mqtt, http) in zip(NAMES, own, strict=True)
        ]
        self._say = say

    def make(self) -> None:
        """By the commands that a user gives; all three vote when this returns."""
        first, *others = self.nodes
        lapwing("cluster", "init", "--config", str(first.config), "--cluster-name", CLUSTER)
        first.start()
        until(first.serves, f"{first.name} does not serve", self.check)
        self._say(f"{first.name} is the first node of a cluster, and serves")
        for node in others:
            token = lapwing("cluster", "token", "--url", first.http_url)
            lapwing("cluster", "join", token, "--config", str(node.config))
            node.start()
            self._say(f"{node.name} has joined it by a token, and is started")
        for node in others:
            until(partial(self._is_voter, node), f"{node.name} does not vote", self.check)
            self._say(f"{node.name} has caught up, and votes")

    def active(self) -> DemoNode:
        """The node that serves, once one does."""
        found: list[DemoNode] = []

        def look() -> bool:
            found[:] = [node for node in self.nodes if node.serves()]
            return bool(found)

        until(look, "no node serves", self.check)
        return found[0]

    def has_caught_up(self, node: DemoNode) -> bool:
        """Whether the node that serves says that this one is there, and lacks nothing that counts."""
        told = self._told_of(node)
        if told is None or not told["is_connected"] or told["behind"] is None:
            return False
        return bool(told["behind"] <= CAUGHT_UP_ENTRIES)

    def check(self) -> None:
        """Raises `BrokerError` where a node has ended by itself."""
        for node in self.nodes:
            node.check()

    def close(self) -> None:
        """Ends them, as an operator does."""
        for node in self.nodes:
            node.ask_to_end()
        for node in self.nodes:
            node.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
            return
        for node in self.nodes:
            node.kill()

    def _is_voter(self, node: DemoNode) -> bool:
        told = self._told_of(node)
        return told is not None and told["standing"] == "voter"

    def _told_of(self, node: DemoNode) -> dict[str, Any] | None:
        """What the node that serves says of one."""
        serving = next((each for each in self.nodes if each.serves()), None)
        status = serving.status() if serving is not None else None
        found = [each for each in status["nodes"] if each["name"] == node.name] if status is not None else []
        return found[-1] if found else None
