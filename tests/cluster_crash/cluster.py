"""Three nodes as processes, and what happens to them."""

from __future__ import annotations

import re
import signal
import time
from collections import defaultdict
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from random import Random
from typing import Any

from marsh import Marsh, MarshNode
from tests.crash.power import PowerCut

from .faults import OF_THE_PROCESS, STANDBYS, ClusterPlan, Fault, Harm
from .host import CrashHost
from .network import Network

LOOK_S = 0.05
"""So old may be what is known of who serves, and of how far the others are."""
BEHIND_MAX = 64
"""Entries that a node may lack and count as whole: clients go on meanwhile."""
_USUAL = ("notice: ", "info: ")
_SERVES = re.compile(r"(\w+): notice: serves cluster \w+ in term (\d+): ")


class CrashNode(MarshNode):
    """A node, and what has happened to it."""

    host: CrashHost
    is_paused = False

    def pause(self) -> None:
        """It stands still where it is, and its connections stay open."""
        assert self.process
        self.process.process.send_signal(signal.SIGSTOP)
        self.is_paused = True

    def go_on(self) -> None:
        """Where it stood still; it knows nothing of that."""
        assert self.process
        self.process.process.send_signal(signal.SIGCONT)
        self.is_paused = False

    def serves(self) -> bool:
        """Whether clients can connect to it; one that stands still does not answer."""
        return not self.is_paused and super().serves()


class Cluster(Marsh):
    """A marsh of three, with one configuration; the `Place` of its clients is whoever serves.

    Args:
        folder: New, empty; the data of each node lies below it.
        plan: Its settings are those of all nodes; its means say whether they have a network of their own, and disks
            that may lose what was not synced.
        library: What takes that back.

    Attributes:
        said: All that processes have said which were killed.
        unusual: What of it is a finding.
        lost_changes: By power cuts.
    """

    nodes: list[CrashNode]

    def __init__(self, folder: Path, plan: ClusterPlan, library: Path | None = None) -> None:
        super().__init__(folder)
        self._file = folder / "lapwing.toml"
        self._file.write_text(plan.clients.settings())
        self._library = library if plan.means.power else None
        self._network = Network(1 + STANDBYS) if plan.means.network else None
        self._stack = ExitStack()
        self.said: list[str] = []
        self.unusual: list[str] = []
        self.lost_changes = 0
        self._serving: CrashNode | None = None
        self._looked_at = self._counted_at = -LOOK_S

    def begin(self) -> None:
        """Starts all three; each has a vote then."""
        if self._network:
            self._stack.enter_context(self._network)
        super().begin()
        for _ in range(STANDBYS):
            self.join()

    def make(self, name: str) -> CrashNode:
        """A node with nothing in its folder."""
        power = PowerCut(self._library, self.folder / f"{name}-power", self.folder / name) if self._library else None
        host = CrashHost(len(self.nodes), self._network, power)
        return CrashNode(self.folder, name, host, settings=("--config", str(self._file)))

    @property
    def serving(self) -> CrashNode:
        """Who serves; while nobody does, who did last."""
        if time.monotonic() - self._looked_at >= LOOK_S or self._serving is None:
            # First who served: as long as it does nobody else has to be asked.
            order = sorted(self.nodes, key=lambda node: node is not self._serving)
            self._serving = next((node for node in order if node.serves()), self._serving)
            self._looked_at = time.monotonic()
        return self._serving or self.nodes[0]

    def anybody_serves(self) -> bool:
        """Whether a client could connect now."""
        return any(node.serves() for node in self.nodes)

    @property
    def url(self) -> str:
        """For MQTT."""
        return self.serving.url

    @property
    def http(self) -> str:
        """For HTTP."""
        return self.serving.http

    def inside(self) -> AbstractContextManager[None]:
        """In this block who serves is reached."""
        return self.serving.host.inside()

    def strike(self, active: CrashNode, fault: Fault, random: Random) -> list[CrashNode]:
        """Does it to the one that serves, and to others; gives those that it was done to."""
        others = [node for node in self.nodes if node is not active]
        random.shuffle(others)
        struck = [] if fault.active is None else [(active, fault.active)]
        struck += zip(others, fault.standbys, strict=False)
        for node, harm in struck:
            self._harm(node, harm, random)
        return [node for node, _ in struck]

    def _harm(self, node: CrashNode, harm: Harm, random: Random) -> None:
        if harm in OF_THE_PROCESS:
            self._kill(node)
            if harm is Harm.POWER and node.host.power:
                node.host.power.cut(random)
                self.lost_changes += node.host.power.lost_changes
        elif harm is Harm.PAUSE:
            node.pause()
        elif self._network:
            for other in self.nodes:
                if other is not node and harm is not Harm.DEAF:
                    self._network.cut(node.host.number, other.host.number)
                if other is not node and harm is not Harm.MUTE:
                    self._network.cut(other.host.number, node.host.number)

    def _kill(self, node: CrashNode) -> None:
        assert node.process
        code = node.process.process.poll()
        words = node.kill()
        self.said += [f"{node.name}: {word}" for word in words]
        self.unusual += [f"{node.name} said: {word}" for word in words if not word.startswith(_USUAL)]
        if code is not None:
            self.unusual.append(f"{node.name} had ended by itself, with {code}")

    def mend(self, nodes: list[CrashNode]) -> None:
        """Undoes it; they take part again, or are about to."""
        if self._network:
            self._network.heal()
        for node in nodes:
            if node.is_paused:
                node.go_on()
            elif node.process is None:
                node.start()

    def is_whole(self) -> bool:
        """Whether all vote, are there, and have nearly everything.

        Raises:
            AssertionError: a node has ended by itself, or a replica of it has stopped.
        """
        self._see_that_all_run()
        if time.monotonic() - self._counted_at < LOOK_S or not self.serving.serves():
            return False
        self._counted_at = time.monotonic()
        statuses = {node.name: node.status() for node in self.nodes}
        stopped = {name: status["stopped"] for name, status in statuses.items() if status["stopped"]}
        assert not stopped, f"replicas have stopped: {stopped}"
        return all(_is_well(node) for node in statuses[self.serving.name]["nodes"])

    def _see_that_all_run(self) -> None:
        for node in self.nodes:
            assert node.process
            code = node.process.process.poll()
            assert code is None, f"{node.name} has ended by itself, with {code}: {node.process.errors}"

    def rivals(self) -> list[str]:
        """Terms in which two nodes have served, as they say themselves; to be asked at the end."""
        by_term: dict[str, set[str]] = defaultdict(set)
        for word in self.said:
            if found := _SERVES.match(word):
                name, term = found.groups()
                by_term[term].add(name)
        return [f"in term {term} served {sorted(names)}" for term, names in by_term.items() if len(names) > 1]

    def end(self) -> None:
        """Kills all nodes, and removes their network."""
        try:
            for node in self.nodes:
                if node.process is not None:
                    self._kill(node)
        finally:
            self._stack.close()


def _is_well(node: dict[str, Any]) -> bool:
    """As the node that serves sees it."""
    is_near = node["behind"] is not None and node["behind"] <= BEHIND_MAX
    return node["standing"] == "voter" and node["is_connected"] and is_near
