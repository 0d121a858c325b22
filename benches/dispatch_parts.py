"""The parts of the dispatch experiment, and what the design asks of each: who, against whom, how much at most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """LEF's figure over another's must not exceed ``most``; without ``over``, LEF's own figure."""

    figure: str
    most: float
    over: str = ""
    loads: tuple[float, ...] = ()
    """At these loads; empty: at every one of the part."""


@dataclass(frozen=True)
class Part:
    """One call of `lapwing lab run dispatch`."""

    name: str
    scenario: str
    policies: tuple[str, ...]
    loads: tuple[float, ...]
    bounds: tuple[Bound, ...]
    seconds: float = 60.0
    drain_s: float = 20.0
    has_peers: bool = False


_AGAINST_C3 = (Bound("mean_ms", 0.90, "c3"), Bound("p99_ms", 0.85, "c3"))
_AGAINST_BROKE = (Bound("mean_ms", 0.10, "broke"), Bound("p99_ms", 0.05, "broke"))

PARTS = (
    Part(
        "hetero",
        "hetero",
        ("lef", "c3", "broke", "round-robin"),
        (0.5, 0.9),
        (
            *_AGAINST_C3,
            *_AGAINST_BROKE,
            Bound("missed_share", 0.5, "c3", (0.5,)),
            Bound("missed_share", 0.3, "c3", (0.9,)),
        ),
    ),
    Part(
        "others",
        "hetero",
        ("lef", "c3", "broke", "round-robin"),
        (0.7,),
        (*_AGAINST_C3, *_AGAINST_BROKE, Bound("missed_share", 0.3, "c3")),
        has_peers=True,
    ),
    Part(
        "mild",
        "mild",
        ("lef", "round-robin"),
        (0.7,),
        (Bound("mean_ms", 0.10, "round-robin"), Bound("p99_ms", 0.05, "round-robin")),
        seconds=120.0,
    ),
    Part("bursts", "bursts", ("lef", "c3"), (0.7,), (Bound("mean_ms", 1.05, "c3"), Bound("p99_ms", 0.95, "c3"))),
    Part("equal", "equal", ("lef", "c3"), (0.7,), (Bound("mean_ms", 1.10, "c3"), Bound("p99_ms", 1.10, "c3"))),
    Part(
        "blackholes",
        "blackholes",
        ("lef", "c3"),
        (0.7,),
        (Bound("p999_ms", 2000.0), Bound("duplicates_share", 0.002)),
        seconds=120.0,
        drain_s=40.0,
    ),
)
