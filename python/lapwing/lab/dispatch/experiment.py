"""The experiment: every trace through every policy and every peer, in alternation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lapwing.lab.dispatch.brokers import Peer, RunningBroker, lapwing
from lapwing.lab.dispatch.outcome import Outcome, Row, outcome, row
from lapwing.lab.dispatch.plan import Plan
from lapwing.lab.dispatch.policy import set_policy
from lapwing.lab.dispatch.session import Conditions, run_trace
from lapwing.lab.dispatch.trace import Trace


class Watcher(Protocol):
    """Who is told how far it is."""

    def begin(self, subject: str, trace: Trace) -> None:
        """A run begins."""

    def done(self, messages: int) -> None:
        """So many messages of it are done."""

    def end(self, row: Row) -> None:
        """It is over; the row is of this run alone."""


@dataclass(frozen=True)
class Result:
    """All rows, in the order of the plan."""

    plan: Plan
    conditions: Conditions
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        plan = self.plan
        return {
            "plan": {
                "scenarios": [scenario.name for scenario in plan.scenarios],
                "subjects": list(plan.subjects),
                "loads": list(plan.loads),
                "seeds": plan.seeds,
                "seconds": plan.seconds,
                "warm_s": plan.warm_s,
                "drain_s": plan.drain_s,
                "link": self.conditions.links.kind,
                "declares": dict(self.conditions.declares),
                "reports": self.conditions.reports,
            },
            "rows": [row.to_json() for row in self.rows],
            "ratios": list(ratios(self.rows, plan.subjects[0])),
        }


def run_experiment(
    plan: Plan, peers: Sequence[Peer], conditions: Conditions, shards: int, folder: Path, watcher: Watcher
) -> Result:
    """Runs the whole plan.

    Args:
        peers: Those of the plan's subjects that are other brokers.
        shards: Of Lapwing.
        folder: Gets the traces.

    Raises:
        LapwingError: a process failed, or a policy is not known.
    """
    outcomes: dict[tuple[str, float, str], list[Outcome]] = defaultdict(list)
    by_name = {peer.name: peer for peer in peers}
    with ExitStack() as stack:
        ours = None
        if set(plan.subjects) - set(by_name):
            ours = stack.enter_context(lapwing(conditions.links, shards))
        for trace in plan.traces():
            place = trace.write(folder)
            for subject in plan.alternation(trace):
                watcher.begin(subject, trace)
                with _subject(subject, ours, by_name, conditions) as broker:
                    books = run_trace(trace, place, broker, conditions, watcher.done)
                one = outcome(trace, books, plan.warm_s)
                outcomes[trace.scenario.name, trace.load, subject].append(one)
                watcher.end(row(subject, trace.scenario.name, trace.load, [one]))
    rows = (
        row(subject, scenario.name, load, outcomes[scenario.name, load, subject])
        for scenario in plan.scenarios
        for load in plan.loads
        for subject in plan.subjects
    )
    return Result(plan, conditions, tuple(rows))


@contextmanager
def _subject(
    name: str, ours: RunningBroker | None, peers: dict[str, Peer], conditions: Conditions
) -> Iterator[RunningBroker]:
    """The broker to run through: one Lapwing for all policies, a new process of a peer for each run."""
    if name in peers:
        with peers[name].running(conditions.links) as broker:
            yield broker
    elif ours is not None:
        set_policy(ours.http, name)
        yield ours


_RATIOS = ("mean_ms", "p99_ms", "p999_ms", "missed_share")


def ratios(rows: Sequence[Row], first: str) -> Iterator[dict[str, Any]]:
    """The first subject's figures over every other's, at the same load of the same scenario."""
    for base in rows:
        for other in rows:
            same = (base.scenario, base.load) == (other.scenario, other.load)
            if base.policy != first or other.policy == first or not same:
                continue
            document: dict[str, Any] = {"of": first, "over": other.policy}
            document |= {"scenario": base.scenario, "load": base.load}
            for name in _RATIOS:
                figure = base.figures[name].over(other.figures[name])
                if figure.value == figure.value:  # no ratio to what is zero
                    document[name] = round(figure.value, 4)
                    document[f"{name}_interval"] = [round(figure.low, 4), round(figure.high, 4)]
            yield document
