"""One limit that is held against another, or against what follows from a whole configuration."""

from __future__ import annotations

from typing import NamedTuple

from lapwing.config.layers import KeyPath
from lapwing.config.limit_bounds import BoundOf

ONE_PACKET = "one packet would fill it"
SHORT = "memory would be short before it is reached"


class Pair(NamedTuple):
    """One row of the table.

    Attributes:
        key: The limit that is judged.
        is_floor: The bound is the least that it may be; else the most.
        bound: What it is held against; None where that is off.
        otherwise: What would happen, behind "or".
        only_set: Its default gives way, so it is judged only where it is set to something else.
        zero_is_any: At 0 it is no limit.
    """

    key: KeyPath
    is_floor: bool
    bound: BoundOf
    otherwise: str
    only_set: bool = True
    zero_is_any: bool = False


def most(key: str, bound: BoundOf, otherwise: str, **more: bool) -> Pair:
    """A limit that may be no more than its bound."""
    return Pair(tuple(key.split(".")), False, bound, otherwise, **more)


def least(key: str, bound: BoundOf, otherwise: str, **more: bool) -> Pair:
    """A limit that may be no less than its bound."""
    return Pair(tuple(key.split(".")), True, bound, otherwise, **more)
