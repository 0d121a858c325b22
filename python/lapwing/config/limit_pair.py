"""One limit that is held against another, or against what follows from a whole configuration: data, and no code.

``lapwing config check`` and ``lapwing broker`` judge by these rows (`limit_bounds`), and ``lapwingd`` by the same ones
as JSON (``tools/lapwingd_model.py``). Keys have dots; ``*`` stands for each entry of a list or table, ``@`` for the one
that the row is about.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

ONE_PACKET = "one packet would fill it"
SHORT = "memory would be short before it is reached"

Measure = Literal["first", "sum", "entries", "largest_packet", "topic_levels", "topic_bytes", "longest_expiry"]
"""What a bound begins with: the first of its limits that is not 0 ("off" for all that may be 0); the sum of them, texts
as their bytes; how many entries there are; the largest packet that any listener takes; what topics need that the
configuration names, in levels or bytes; how long any message may wait, in milliseconds."""

Test = Literal["is", "set", "unset", "above_zero", "own_bridge"]


class When(NamedTuple):
    """A bound holds only where this does.

    Attributes:
        test: ``is``: it has that value; ``set``: there is something, and no empty text or list; ``unset``: there is
            not; ``above_zero``; ``own_bridge``: the bridge of the same file connects to this broker.
        key: Of what.
        value: For ``is``.
    """

    test: Test
    key: str
    value: str = ""


class BoundRule(NamedTuple):
    """What a limit is held against: ``measure * times / over + plus``.

    Attributes:
        of: What is measured.
        keys: Where.
        words: That in the words of the configuration. ``{key} = {shown}``: the limit that was measured, with its unit;
            ``{value}``: the bare number that was measured; ``{where}``: what needs it; ``{0}``, ``{1}``: parts of a
            sum.
        times: A factor.
        over: A divisor; what is over is cut off.
        plus: What is added then.
        rounds_up: What is over counts as one more.
        when: All of these have to hold; else the next rule of the pair is asked.
    """

    of: Measure
    keys: tuple[str, ...] = ()
    words: str = "{key} = {shown}"
    times: int = 1
    over: int = 1
    plus: int = 0
    rounds_up: bool = False
    when: tuple[When, ...] = ()


class Pair(NamedTuple):
    """One row of the table.

    Attributes:
        key: The limit that is judged.
        is_floor: The bound is the least that it may be; else the most.
        bounds: What it is held against: the first rule whose conditions hold. None: nothing.
        otherwise: What would happen, behind "or".
        only_set: Its default gives way, so it is judged only where it is set to something else.
        zero_is_any: At 0 it is no limit.
    """

    key: str
    is_floor: bool
    bounds: tuple[BoundRule, ...]
    otherwise: str
    only_set: bool = True
    zero_is_any: bool = False


Bounds = BoundRule | tuple[BoundRule, ...]


def most(key: str, bounds: Bounds, otherwise: str, **more: bool) -> Pair:
    """A limit that may be no more than its bound."""
    return Pair(key, False, _rules(bounds), otherwise, **more)


def least(key: str, bounds: Bounds, otherwise: str, **more: bool) -> Pair:
    """A limit that may be no less than its bound."""
    return Pair(key, True, _rules(bounds), otherwise, **more)


def _rules(bounds: Bounds) -> tuple[BoundRule, ...]:
    return (bounds,) if isinstance(bounds, BoundRule) else bounds
