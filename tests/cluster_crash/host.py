"""What a node of the crash rounds runs on: a disk that may lose its power, and perhaps a network of its own."""

from __future__ import annotations

from contextlib import AbstractContextManager

from marsh import Host
from tests.crash.power import PowerCut

from .network import Network


class CrashHost(Host):
    """The machine of one node.

    Args:
        number: Which node of the network it is, from 0 on.
        network: None: all nodes are on the loopback of this machine.
        power: None: its disk keeps what it was given.
    """

    def __init__(self, number: int, network: Network | None, power: PowerCut | None) -> None:
        self.number = number
        self.power = power
        self._network = network
        self.is_here = network is None
        if network:
            self.address = network.address(number)

    def inside(self) -> AbstractContextManager[None]:
        """In this block what this thread starts runs there, and what it connects to is there."""
        return self._network.inside(self.number) if self._network else super().inside()

    def variables(self) -> dict[str, str]:
        """Environment of a process that is about to start."""
        return self.power.prepare() if self.power else {}
