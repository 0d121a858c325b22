"""What kind of day the members have: the scenarios of the design."""

from __future__ import annotations

from dataclasses import dataclass

from lapwing.errors import ConfigError

DEADLINE_MS = 250
"""Of each critical message, from the broker's receipt to the end of the handler."""
CRITICAL_SHARE = 0.1


@dataclass(frozen=True)
class Scenario:
    """All times in milliseconds.

    Attributes:
        speeds: Messages a second that a member finishes, slowest and fastest; members lie log-uniformly between.
        round_trips: Nearest and farthest, in the same way, in random order.
        has_bursts: Arrivals at 2.5 times the rate for about 200 ms, 0.625 times for about 800 ms.
        slow_every: Mean time between slowdowns to a tenth, of 5 s on average.
        pause_every: Mean time between pauses of 50 to 500 ms.
        stall_every: Mean time between stalls of 30 s; 0: none.
        move_every: Mean time until a member moves to another distance.
        members: How many.
    """

    name: str
    speeds: tuple[float, float] = (20.0, 200.0)
    round_trips: tuple[float, float] = (1.0, 200.0)
    has_bursts: bool = False
    slow_every: float = 60e3
    pause_every: float = 15e3
    stall_every: float = 0.0
    move_every: float = 120e3
    members: int = 20


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("hetero"),
        Scenario("mild", speeds=(50.0, 100.0), round_trips=(1.0, 50.0)),
        Scenario("equal", speeds=(80.0, 80.0), round_trips=(1.0, 5.0)),
        Scenario("bursts", has_bursts=True),
        Scenario("blackholes", stall_every=150e3),
    )
}


def scenario_named(name: str) -> Scenario:
    """The scenario of that name.

    Raises:
        ConfigError: there is none; the message lists those there are.
    """
    if name not in SCENARIOS:
        raise ConfigError(f"no scenario is named {name!r}", remedy=f"take one of: {', '.join(SCENARIOS)}")
    return SCENARIOS[name]
