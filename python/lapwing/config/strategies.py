"""Names of the strategies of consumer groups, and of their parameters with ranges.

The table of the Rust side (``crates/dispatch``) once more, so that ``config check`` names a wrong one with its line
without loading the broker; a test compares the two.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

_GUESSED_CHARACTERS_MAX = 64
"""Of a longer name nobody guesses what was meant; the search takes its time."""

STRATEGIES = (
    "auto", "lef", "peak-ewma", "c3", "round-robin", "random", "sticky", "hash-client", "hash-topic", "key-ordered",
    "least-inflight", "p2c", "broke",
)  # fmt: skip

PARAMETERS: dict[str, tuple[float, float]] = {
    "bulk_factor": (1, 100),
    "overdue_factor": (0, 100),
    "gain": (0.001, 1),
    "clip_factor": (1, 1_000),
    "forget_ms": (1, 600_000),
    "softness": (0.1, 100),
    "window": (1, 1_000),
    "window_backlog": (0, 1_000),
    "window_critical": (0, 1_000),
    "spread_factor": (0.1, 1_000),
    "spread_ms": (0, 60_000),
    "stall_ms": (0, 86_400_000),
    "stall_factor": (1, 1_000_000),
    "sample": (3, 64),
    "peak_forget_ms": (1, 600_000),
    "broke_queue": (1, 65_535),
    "key_slack_ms": (0, 3_600_000),
    "key_slack_share": (0, 100),
    "blind_ms": (0, 1_000),
    "blind_share": (0, 0.5),
}
"""Least and greatest value of each parameter."""


def parse_strategy(name: str) -> str:
    """The name of a strategy.

    Raises:
        ValueError: no strategy has this name; the message has those there are.
    """
    if name not in STRATEGIES:
        raise ValueError(_unknown("strategy", name, STRATEGIES))
    return name


def parse_parameter_name(name: str) -> str:
    """The name of a parameter.

    Raises:
        ValueError: no parameter has this name; the message has those there are.
    """
    if name not in PARAMETERS:
        raise ValueError(_unknown("parameter", name, PARAMETERS))
    return name


def check_number_of_parameters(values: object) -> object:
    """Whatever it is, unless more is named than there are: for each wrong name it is searched for what was meant.

    Raises:
        ValueError: the message has how many there are.
    """
    if isinstance(values, Mapping) and len(values) > len(PARAMETERS):
        raise ValueError(f"there are {len(PARAMETERS)} parameters, and {len(values):,} are named")
    return values


def _unknown(kind: str, name: str, known: tuple[str, ...] | Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1) if len(name) <= _GUESSED_CHARACTERS_MAX else []
    guess = f"did you mean {near[0]}? " if near else ""
    return f"no such {kind}: {guess}there are {', '.join(known)}"


def check_parameters(values: Mapping[str, float]) -> dict[str, float]:
    """Values within their ranges.

    Raises:
        ValueError: one is not; the message has its name and range.
    """
    for name, value in values.items():
        low, high = PARAMETERS[name]
        if not low <= value <= high:
            raise ValueError(f"{name} must be {low:g} to {high:g}")
    return dict(values)
