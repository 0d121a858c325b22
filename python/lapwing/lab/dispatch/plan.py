"""What an experiment runs, decided before anything is started."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lapwing.errors import ConfigError
from lapwing.lab.dispatch.scenario import Scenario
from lapwing.lab.dispatch.trace import Trace, make_trace

POLICIES = ("lef", "c3", "round-robin", "broke")
LOADS = (0.5, 0.7, 0.9)
SEEDS, SECONDS, DRAIN_S = 5, 60.0, 20.0
QUICK_POLICIES, QUICK_LOADS, QUICK_SECONDS, QUICK_DRAIN_S = ("lef", "round-robin"), (0.7,), 10.0, 2.0
_WARM_MAX_S, _WARM_SHARE = 10.0, 1 / 6
_LOAD_MAX = 2.0
_SEED_FIRST = 101
_BETWEEN_RUNS_S = 3.0
"""About: processes start and end."""


@dataclass(frozen=True)
class Plan:
    """What runs.

    Attributes:
        subjects: Policies of Lapwing, then names of peers: what is compared.
        seconds: Of each run, counted; the warm-up comes before.
    """

    scenarios: tuple[Scenario, ...]
    subjects: tuple[str, ...]
    loads: tuple[float, ...]
    seeds: int
    seconds: float
    drain_s: float

    def __post_init__(self) -> None:
        if not self.subjects:
            raise ConfigError("nothing is to be compared", where="--policies", remedy="name at least one policy")
        if not self.loads:
            raise ConfigError("there is no load", where="--loads", remedy="name at least one, as 0.7")
        # A day that ran twice would count as two days, and its interval come out too narrow.
        _refuse_repeated("--policies, --peer", self.subjects)
        _refuse_repeated("--loads", [f"{load:g}" for load in self.loads])
        _refuse_repeated("--scenario", [scenario.name for scenario in self.scenarios])
        for load in self.loads:
            if not (math.isfinite(load) and 0 < load <= _LOAD_MAX):
                raise ConfigError(f"{load:g} is no load", where="--loads", remedy=f"above 0, at most {_LOAD_MAX:g}")

    @property
    def warm_s(self) -> float:
        """Time at the beginning of each run that does not count: estimates and queues are still those of nobody."""
        return min(_WARM_MAX_S, self.seconds * _WARM_SHARE)

    @property
    def runs(self) -> int:
        """How many."""
        return len(self.scenarios) * len(self.loads) * self.seeds * len(self.subjects)

    @property
    def longest_s(self) -> float:
        """How long it takes where everything needs its whole time to drain."""
        return self.runs * (self.warm_s + self.seconds + self.drain_s + _BETWEEN_RUNS_S)

    def traces(self) -> Iterator[Trace]:
        """Every trace, each once."""
        for scenario in self.scenarios:
            for load in self.loads:
                for seed in range(_SEED_FIRST, _SEED_FIRST + self.seeds):
                    yield make_trace(scenario, load, seed, self.warm_s + self.seconds)

    def alternation(self, trace: Trace) -> list[str]:
        """The subjects in the order in which they run this trace: another one begins with each seed."""
        first = (trace.seed - _SEED_FIRST) % len(self.subjects)
        return [*self.subjects[first:], *self.subjects[:first]]


def _refuse_repeated(where: str, names: Sequence[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise ConfigError(f"named twice: {', '.join(twice)}", where=where)
