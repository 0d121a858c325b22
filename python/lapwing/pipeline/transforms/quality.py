"""Per device and minute: exactly what arrived, was lost, repeated, out of order."""

from __future__ import annotations

import numpy as np
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
    """Messages received, lost, repeated and late per device and minute of the broker's clock.

    Args:
        classified: Rows of `lapwing.pipeline.transforms.repeats.classify`.

    Returns:
        Rows of ``QUALITY``; ``lost`` may be negative in a minute that fills an earlier one's gap.
    """
    late, gap = ints(classified["late"]), ints(classified["gap"])
    per_row = {
        "device": classified["device"],
        "minute": minutes(classified["ingress_at"]),
        "received": np.ones(classified.num_rows, dtype=np.int64),
        "gap": gap,
        "recovered": late,
        "lost": gap - late,
        "repeated": ints(classified["repeated"]),
        "reordered": late,
    }
    return joined_quality(made(_SCHEMA, per_row))


def joined_quality(rows: pa.Table) -> pa.Table:
    """Rows of ``QUALITY``, some for the same device and minute, as one row each."""
    groups = Groups(rows, KEYS["quality"])
    keys = {name: groups.first(name) for name in KEYS["quality"]}
    return made(_SCHEMA, {**keys, **{name: groups.sum(groups.ordered(name)) for name in _COUNTS}})
