"""A cluster whose nodes are killed, paused and cut off at random moments: is everything there that was acknowledged?"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.crash.books import Books, Interest
from tests.crash.outcome import Outcome
from tests.crash.power import compile_library

from .cluster import Cluster, CrashNode
from .faults import Fault, Harm, Means, cluster_plan
from .network import why_not
from .round import ClusterRound
from .straggler import Straggler

pytestmark = pytest.mark.timeout(300)


def fault(active: Harm | None, *standbys: Harm, meanwhile: int = 100, lasts_s: float = 0.0) -> Fault:
    """In the midst of traffic."""
    return Fault(active, standbys, messages=300, delay_s=0.0, meanwhile=meanwhile, lasts_s=lasts_s)


def live(folder: Path, seed: int, means: Means, faults: tuple[Fault, ...] = ()) -> Outcome:
    """One round, of these faults or of its own."""
    folder.mkdir()
    plan = cluster_plan(seed, means)
    plan = replace(plan, faults=faults or plan.faults, means=means)
    library = compile_library(folder) if means.power else None
    return ClusterRound(plan, Cluster(folder, plan, library)).run()


def check(outcome: Outcome) -> None:
    """Something was acknowledged and delivered, and nothing is wrong."""
    assert not outcome.findings, f"seed {outcome.seed}, {outcome.faults}: {outcome.findings}"
    assert outcome.acknowledged > 100
    assert outcome.delivered > 100


class Forgetful(Cluster):
    """All go down each time; from the second time on all come back as they were after the first."""

    def strike(self, active: CrashNode, fault: Fault, random: Random) -> list[CrashNode]:
        struck = super().strike(active, fault, random)
        for node in self.nodes:
            copy = self.folder / f"{node.name}-copy"
            if copy.exists():
                shutil.rmtree(node.data)
                shutil.copytree(copy, node.data)
            else:
                shutil.copytree(node.data, copy)
        return struck


@pytest.mark.slow
def test_a_cluster_that_forgets_is_found_out(tmp_path: Path) -> None:
    """The rounds can see a loss: here three disks go back in time together, which no node can notice."""
    all_killed = fault(Harm.KILL, Harm.KILL, Harm.KILL, meanwhile=0)
    plan = replace(cluster_plan(1), faults=(all_killed, all_killed))
    findings = ClusterRound(plan, Forgetful(tmp_path, plan), patience_s=1.0).run().findings
    assert any("never got" in one or "retained on" in one or "is gone" in one for one in findings), findings


@pytest.mark.slow
def test_kills_pauses_and_power_cuts_lose_nothing(tmp_path: Path) -> None:
    """Of the one that serves, of one that stands by, and of two, so that nobody serves."""
    of_one = (fault(Harm.POWER), fault(Harm.PAUSE, lasts_s=3.0), fault(None, Harm.KILL))
    of_two = fault(Harm.KILL, Harm.POWER, meanwhile=0, lasts_s=1.0)
    outcome = live(tmp_path / "1", 1, Means(power=True), (*of_one, of_two))
    check(outcome)
    assert outcome.lost_changes > 0, "no power cut took anything back"


@pytest.mark.slow
@pytest.mark.usefixtures("needs_network")
def test_splits_lose_nothing(tmp_path: Path) -> None:
    faults = (fault(Harm.SPLIT, lasts_s=4.0), fault(Harm.MUTE, lasts_s=4.0))
    check(live(tmp_path / "2", 2, Means(network=True), faults))


@pytest.mark.nightly
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("seed", range(100, 110))
def test_ten_rounds_lose_nothing(tmp_path: Path, seed: int) -> None:
    check(live(tmp_path / str(seed), seed, Means(power=True, network=why_not() is None)))


def test_what_nobody_may_acknowledge_is_seen() -> None:
    """Without a majority: what is owed or retained counts, what nobody waits for does not; and from a straggler all."""
    books = Books()
    books.keep("reader").interests.append(Interest("t/#", 1, asked_at=0, granted_at=0))
    before = books.send("writer", 0, "t/a", 1, b"x", retain=False)
    since = books.tick()
    owed, retained, heeded_by_none = (
        books.send("writer", 1 + number, topic, 1, b"x", retain=retain)
        for number, (topic, retain) in enumerate((("t/a", False), ("r/a", True), ("other", False)))
    )
    assert books.promised_since(since) == []
    for message in (before, owed, retained, heeded_by_none):
        books.take(message)
    assert books.promised_since(since) == [owed, retained]
    straggler = Straggler(0, books)
    straggler.speak()
    assert straggler.acknowledged == []
    late = books.messages["straggler-0", 3]
    books.take(late)
    assert straggler.acknowledged == [late]


def test_two_that_serve_in_one_term_are_seen(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, cluster_plan(1))
    serves = "notice: serves cluster lapwing in term {}: listens at tcp://127.0.0.1:1883"
    cluster.said += [f"n1: {serves.format(2)}", f"n2: {serves.format(3)}", f"n2: {serves.format(3)}"]
    assert cluster.rivals() == []
    cluster.said.append(f"n3: {serves.format(3)}")
    assert cluster.rivals() == ["in term 3 served ['n2', 'n3']"]


def test_faults_are_those_of_the_seed() -> None:
    """The same each time, of what there is; some rounds have faults that leave no majority, most have none."""
    everything = Means(power=True, network=True)
    plans = [cluster_plan(seed, everything) for seed in range(200)]
    assert plans == [cluster_plan(seed, everything) for seed in range(200)]
    faults = [fault for plan in plans for fault in plan.faults]
    harms = {harm for fault in faults for harm in (fault.active, *fault.standbys) if harm}
    assert harms == set(Harm)
    assert 0 < sum(not fault.leaves_majority for fault in faults) < len(faults) / 2
    plain = [fault for seed in range(200) for fault in cluster_plan(seed).faults]
    assert {harm for fault in plain for harm in (fault.active, *fault.standbys) if harm} == {Harm.KILL, Harm.PAUSE}
