"""What the controller has to know of a batch: the latest samples of each place, and where each device is.

Both are kept as of the sample's time or the broker's, whichever is earlier: a device whose clock runs ahead must not
make a place look fresh for ever.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.command_tables import PLACES, RECENT_MAX, WHEREABOUTS
from lapwing.pipeline.transforms.groups import Groups, Ints, floats, ints, made, times
from lapwing.pipeline.transforms.tiles import tile_names, tile_xy

PLACE = ("tile", "network", "channel")
_PLACES = pa.schema(list(PLACES.arrow_schema()))
_WHEREABOUTS = pa.schema(list(WHEREABOUTS.arrow_schema()))
_SAMPLES = pa.schema([*(_PLACES.field(name) for name in PLACE), pa.field("at", pa.timestamp("us", "UTC"))])


def samples(classified: pa.Table) -> pa.Table:
    """The latest samples of each place among first copies of readings with a position."""
    placed, tiles, at = _placed(classified)
    rows = {"tile": tiles, "network": placed["network"], "channel": placed["channel"], "at": times(at)}
    return _latest(made(_SAMPLES, rows))


def samples_of_places(rows: pa.Table) -> pa.Table:
    """Rows of ``PLACES`` taken apart again."""
    recent = rows["recent"].combine_chunks()
    parents = pc.list_parent_indices(recent)
    columns = {name: rows[name].take(parents) for name in PLACE}
    return made(_SAMPLES, {**columns, "at": pc.list_flatten(recent).field("at")})


def places(parts: pa.Table) -> pa.Table:
    """Samples of several parts as rows of ``PLACES``."""
    kept = _latest(parts)
    groups = Groups(kept, PLACE, then=["at"])
    at = groups.ordered("at")
    offsets = np.append(groups.starts, len(at)).astype(np.int32)
    item = _PLACES.field("recent").type.value_type
    values = pa.StructArray.from_arrays([times(at)], fields=list(item))
    columns = {name: groups.first(name) for name in PLACE}
    return made(
        _PLACES,
        {
            **columns,
            "last_seen": times(groups.max(at)),
            "recent": pa.ListArray.from_arrays(pa.array(offsets), values, type=_PLACES.field("recent").type),
        },
    )


def whereabouts(classified: pa.Table) -> pa.Table:
    """Where each device was last, among first copies of readings with a position."""
    placed, tiles, at = _placed(classified)
    return joined_whereabouts(
        made(_WHEREABOUTS, {"device": placed["device"], "tile": pa.array(tiles, pa.string()), "seen_at": times(at)})
    )


def joined_whereabouts(rows: pa.Table) -> pa.Table:
    """Several rows per device as the latest of each; of two at one time, the tile with the greater name."""
    order = pc.sort_indices(rows, sort_keys=[("device", "ascending"), ("seen_at", "ascending"), ("tile", "ascending")])
    ordered = rows.take(order)
    device = ordered["device"].combine_chunks()
    if not len(device):
        return ordered
    last = np.append(pc.not_equal(device[1:], device[:-1]).to_numpy(zero_copy_only=False), True)
    return ordered.filter(pa.array(last))


def _placed(classified: pa.Table) -> tuple[pa.Table, list[str], Ints]:
    placed = classified.filter(pc.and_(classified["first"], classified["lat"].is_valid()))
    x, y = tile_xy(floats(placed["lat"]), floats(placed["lon"]))
    at = np.minimum(ints(placed["measured_at"]), ints(placed["ingress_at"]))
    return placed, tile_names(x, y), at


def _latest(rows: pa.Table) -> pa.Table:
    """At most `RECENT_MAX` rows of each place: the latest."""
    groups = Groups(rows, PLACE, then=["at"])
    ends = np.append(groups.starts[1:], rows.num_rows)
    from_the_end = ends[groups.group] - np.arange(rows.num_rows) if rows.num_rows else np.empty(0, dtype=np.int64)
    return rows.take(pa.array(groups.order[from_the_end <= RECENT_MAX]))
