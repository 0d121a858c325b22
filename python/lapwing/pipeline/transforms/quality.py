"""Per device and minute: exactly what arrived, was lost, repeated, out of order."""

from __future__ import annotations

import pyarrow as pa

from lapwing.contracts.tables import KEYS, QUALITY
from lapwing.pipeline.transforms.groups import Groups, ints, made, times

MINUTE_US = 60_000_000
_SCHEMA = pa.schema(list(QUALITY.arrow_schema()))
_COUNTS = [name for name in QUALITY.names if name not in KEYS["quality"]]


def minutes(column: pa.ChunkedArray) -> pa.Array:
    """Times cut down to their minute."""
    micros = ints(column)
    return times(micros - micros % MINUTE_US)


def quality(classified: pa.Table) -> pa.Table:
    """Messages received, missing, quarantined, repeated and late per device and minute of the broker's clock.

    Args:
        classified: Rows of `lapwing.pipeline.transforms.repeats.classify`.

    Returns:
        Rows of ``QUALITY``; ``lost`` may be negative in a minute that fills an earlier one's gap.
    """
    gap, recovered = ints(classified["gap"]), ints(classified["recovered"])
    first, repeated = ints(classified["first"]), ints(classified["repeated"])
    per_row = {
        "device": classified["device"],
        "minute": minutes(classified["ingress_at"]),
        "received": first + repeated,
        "gap": gap,
        "recovered": recovered,
        "lost": gap - recovered,
        "repeated": repeated,
        "reordered": ints(classified["late"]),
        "missing": gap - recovered,
        "quarantined": 1 - first - repeated,
        "before_start": ints(classified["before_start"]),
    }
    return joined_quality(made(_SCHEMA, per_row))


def joined_quality(rows: pa.Table) -> pa.Table:
    """Rows of ``QUALITY``, some for the same device and minute, as one row each."""
    groups = Groups(rows, KEYS["quality"])
    keys = {name: groups.first(name) for name in KEYS["quality"]}
    return made(_SCHEMA, {**keys, **{name: groups.sum(groups.ordered(name)) for name in _COUNTS}})
