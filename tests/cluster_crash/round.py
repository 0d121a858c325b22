"""One round on a cluster: fault by fault, while the clients go on; then everything that was promised has to come."""

from __future__ import annotations

from random import Random

from tests.crash.books import Books, listed
from tests.crash.crew import PATIENCE_S, Crew
from tests.crash.outcome import Outcome, lived
from tests.crash.settling import Settling

from .cluster import Cluster, CrashNode
from .faults import OF_THE_PROCESS, ClusterPlan, Fault
from .straggler import Straggler

SERVER_SHUTTING_DOWN, SERVER_UNAVAILABLE, UNAVAILABLE_3_1_1 = 0x8B, 0x88, 3
EXCUSED = frozenset({SERVER_SHUTTING_DOWN, SERVER_UNAVAILABLE, UNAVAILABLE_3_1_1})
"""What a node says to its clients when another one is to serve."""
COMPARES_MAX = 5
"""Who serves may change while somebody reads what is retained; so often it is begun again."""


class ClusterRound:
    """A plan, a cluster and its clients.

    Args:
        cluster: New: the round starts it, and ends it.
        patience_s: So long what is promised may be on its way.
    """

    def __init__(self, plan: ClusterPlan, cluster: Cluster, *, patience_s: float = PATIENCE_S) -> None:
        self.plan = plan
        self._cluster = cluster
        self._crew = Crew(plan.clients, cluster, books=Books(EXCUSED), patience_s=patience_s)
        self._random = Random(plan.clients.seed ^ 0xD1E)
        self._outcome = Outcome(plan.clients.seed, plan.clients.shards)

    @property
    def books(self) -> Books:
        """Of all clients."""
        return self._crew.books

    def run(self) -> Outcome:
        """Lives the plan."""
        return lived(self._live, self._crew, self._outcome)

    def _live(self) -> None:
        try:
            with self._cluster:
                for fault in self.plan.faults:
                    self._endure(fault)
                self.books.tell("all come back for good")
                Settling(self._crew, may_move=True).settle()
        finally:
            for word in [*self._cluster.unusual, *self._cluster.rivals()]:
                self.books.find(word)
            self.books.story += self._cluster.said
            self._outcome.lost_changes = self._cluster.lost_changes

    def _endure(self, fault: Fault) -> None:
        self._crew.work(fault.messages, fault.delay_s)
        active = self._cluster.active()
        is_to_be_left = fault.active is not None and fault.active not in OF_THE_PROCESS
        straggler = self._straggler(active) if is_to_be_left else None
        struck = self._strike(active, fault)
        if not fault.leaves_majority:
            self._let_nobody_serve(fault, struck)
        self._crew.work(fault.meanwhile, fault.lasts_s)
        if straggler:
            self._hear(straggler, active)
        self._cluster.mend(struck)
        self.books.tell("it is mended")
        self._crew.wait("all nodes to have everything", self._cluster.is_whole)
        if straggler:
            self._judge(straggler)
        self._compare()

    def _strike(self, active: CrashNode, fault: Fault) -> list[CrashNode]:
        struck = self._cluster.strike(active, fault, self._random)
        self._outcome.crashes += 1
        self._outcome.faults.append(str(fault))
        self.books.tell(f"{fault}: {', '.join(node.name for node in struck)}")
        return struck

    def _let_nobody_serve(self, fault: Fault, struck: list[CrashNode]) -> None:
        """Whatever is sent now may be kept, and is not acknowledged before one is back, with whom the others go on."""
        since = self.books.tick()
        if fault.lasts_s:
            # Else one is back before the one that is left has noticed.
            self._crew.wait("nobody to serve", lambda: not self._cluster.anybody_serves())
        self._crew.work(0, fault.lasts_s)
        if taken := self.books.promised_since(since):
            self.books.find(f"without a majority {len(taken)} messages were acknowledged: {listed(taken)}")
        missing = len(self._cluster.nodes) // 2 + 1 - (len(self._cluster.nodes) - len(struck))
        self._cluster.mend(struck[:missing])
        self.books.tell(f"{', '.join(node.name for node in struck[:missing])} is back")

    def _straggler(self, active: CrashNode) -> Straggler:
        """Somebody who is connected to the node that serves."""
        straggler = Straggler(self._outcome.crashes, self.books)
        self._crew.loop.devices.append(straggler.device)
        with active.host.inside():
            straggler.device.connect(active.url)
        self._crew.wait("the straggler", lambda: straggler.has_stayed or straggler.device.line is None)
        return straggler

    def _hear(self, straggler: Straggler, active: CrashNode) -> None:
        """It speaks once another node serves; the old one may have closed its connection by then."""
        if straggler.has_stayed and self._cluster.serving is not active:
            straggler.speak()
            self.books.tell(f"{straggler.device.name} speaks to {active.name}")

    def _judge(self, straggler: Straggler) -> None:
        if taken := straggler.acknowledged:
            self.books.find(f"a node that no longer served has acknowledged {listed(taken)}")
        straggler.device.vanish()

    def _compare(self) -> None:
        for _ in range(COMPARES_MAX - 1):
            try:
                return self._crew.compare()
            except OSError as error:
                self.books.tell(f"who serves may have changed: {error}")
        return self._crew.compare()
