"""The experiment: every trace through every policy and every peer, in alternation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lapwing.errors import ConfigError
from lapwing.lab.dispatch.brokers import GROUP, Peer, RunningBroker, lapwing
from lapwing.lab.dispatch.links import Links
from lapwing.lab.dispatch.outcome import LATENCY_FROM, Outcome, Row, outcome, row
from lapwing.lab.dispatch.plan import Plan
from lapwing.lab.dispatch.policy import set_policy
from lapwing.lab.dispatch.scenario import DEADLINE_MS
from lapwing.lab.dispatch.session import Conditions, run_trace
from lapwing.lab.dispatch.trace import Trace


class Replay(Protocol):
    """How one run is made: what an experiment is about."""

    @property
    def group(self) -> str:
        """Share name of the group whose policy is set."""

    @property
    def deadline_ms(self) -> float:
        """Of critical messages."""

    def counted(self, trace: Trace) -> int:
        """How many messages of a trace count."""

    def __call__(self, trace: Trace, folder: Path, broker: RunningBroker, tell: Callable[[int], None]) -> Outcome:
        """Replays a trace, whose files lie in ``folder``, through a broker.

        Args:
            tell: Called now and then with the number of messages done so far.
        """


@dataclass(frozen=True)
class MembersOnly:
    """The replay of the dispatch experiment: a group of members, from the instant due to the end of the handler."""

    conditions: Conditions
    warm_s: float
    group: str = GROUP
    deadline_ms: float = DEADLINE_MS

    def counted(self, trace: Trace) -> int:
        """See ``Replay``."""
        return int((trace.messages["at_ms"] >= self.warm_s * 1e3).sum())

    def __call__(self, trace: Trace, folder: Path, broker: RunningBroker, tell: Callable[[int], None]) -> Outcome:
        """See ``Replay``."""
        return outcome(trace, run_trace(trace, folder, broker, self.conditions, tell), self.warm_s)


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
                "latency_from": LATENCY_FROM,
                "warm_s": plan.warm_s,
                "drain_s": plan.drain_s,
                "link": self.conditions.links.kind,
                "declares": dict(self.conditions.declares),
                "reports": self.conditions.reports,
                "receive_maximum": self.conditions.receive_maximum,
            },
            "rows": [row.to_json() for row in self.rows],
            "ratios": list(ratios(self.rows, plan.subjects[0])),
        }


def run_experiment(
    plan: Plan, peers: Sequence[Peer], links: Links, replay: Replay, shards: int, folder: Path, watcher: Watcher
) -> tuple[Row, ...]:
    """Runs the whole plan; gives a row for each subject, load and scenario, in the order of the plan.

    Args:
        peers: Those of the plan's subjects that are other brokers.
        shards: Of Lapwing.
        folder: Gets the traces.

    Raises:
        ConfigError: on some day there is nothing to measure.
        LapwingError: a process failed, or a policy is not known.
    """
    for trace in plan.traces():
        if not replay.counted(trace):
            what = f"no message of {trace.scenario.name} counts at a load of {trace.load:g} on day {trace.seed}"
            raise ConfigError(what, where="--seconds", remedy="run for longer, or at a higher load")
    outcomes: dict[tuple[str, float, str], list[Outcome]] = defaultdict(list)
    by_name = {peer.name: peer for peer in peers}
    with ExitStack() as stack:
        ours = None
        if set(plan.subjects) - set(by_name):
            ours = stack.enter_context(lapwing(links, shards))
        _try_out(peers, links)
        for trace in plan.traces():
            place = trace.write(folder)
            for subject in plan.alternation(trace):
                watcher.begin(subject, trace)
                with _subject(subject, ours, by_name, links, replay.group) as broker:
                    one = replay(trace, place, broker, watcher.done)
                outcomes[trace.scenario.name, trace.load, subject].append(one)
                watcher.end(row(subject, trace.scenario.name, trace.load, [one], replay.deadline_ms))
    return tuple(
        row(subject, scenario.name, load, outcomes[scenario.name, load, subject], replay.deadline_ms)
        for scenario in plan.scenarios
        for load in plan.loads
        for subject in plan.subjects
    )


def _try_out(peers: Sequence[Peer], links: Links) -> None:
    """Starts and ends each peer: one that does not come up must not be found out after an hour of runs."""
    for peer in peers:
        with peer.running(links):
            pass


@contextmanager
def _subject(
    name: str, ours: RunningBroker | None, peers: dict[str, Peer], links: Links, group: str
) -> Iterator[RunningBroker]:
    """The broker to run through: one Lapwing for all policies, a new process of a peer for each run."""
    if name in peers:
        with peers[name].running(links) as broker:
            yield broker
    elif ours is not None:
        set_policy(ours.http, group, name)
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
                    document[name] = round(figure.value, 6)
                    document[f"{name}_interval"] = [round(figure.low, 6), round(figure.high, 6)]
            yield document
