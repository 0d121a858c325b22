"""One round in a folder of its own: what a process of many does."""

from __future__ import annotations

from pathlib import Path

from tests.crash.command import kept
from tests.crash.outcome import Outcome

from .cluster import Cluster
from .faults import Means, cluster_plan
from .round import ClusterRound


def one_round(seed: int, out: Path, *, library: Path, has_network: bool) -> Outcome:
    """Lives the plan of a seed; its folder stays where there is something to look at."""

    def live(folder: Path) -> tuple[Outcome, list[str]]:
        plan = cluster_plan(seed, Means(power=True, network=has_network))
        cluster = Cluster(folder, plan, library)
        one = ClusterRound(plan, cluster)
        return one.run(), one.books.story

    return kept(out, seed, live)
